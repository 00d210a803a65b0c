#include "estimator/signal/low_pass.hpp"
#include "tests/support/not_a_number.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

namespace estimator {
namespace {

using test_support::kNaN;

// Independent numbers for x_k = sin(0.3 k) + 0.5 cos(1.7 k) + 0.01 k², k = 0 … 39:
//   python3: sosfiltfilt(butter(n, wn, output='sos'), x)[[0, 1, 7, 20, 38, 39]]  (SciPy 1.10.1)
// They pin the initial state, the reflection, its length and the order of the passes.
TEST(Filtfilt, AgreesWithSciPy) {
  struct Golden {
    int order;
    double cutoff;  // in units of half the sampling rate
    std::array<double, 6> y;
  };
  const Golden goldens[] = {{2,
                             0.2,
                             {0.49907784686179624, 0.5778493656488997, 1.2950838798437276,
                              3.730333875357607, 13.343242559111117, 13.978850189727027}},
                            {3,
                             0.2,
                             {0.49692192254622825, 0.5974693022403251, 1.3156012645707904,
                              3.723137613078547, 13.30982251310255, 13.959295467333089}},
                            {5,
                             0.35,
                             {0.4996826176944234, 0.41199518355995973, 1.3578123741064236,
                              3.719213326468447, 13.439788750959806, 13.973506653120669}}};
  Eigen::VectorXd x(40);
  for (int k = 0; k < 40; ++k) x[k] = std::sin(0.3 * k) + 0.5 * std::cos(1.7 * k) + 0.01 * k * k;
  const std::array<int, 6> rows = {0, 1, 7, 20, 38, 39};
  for (const Golden& golden : goldens) {
    const Eigen::VectorXd y =
        filtfilt(design_butterworth_low_pass(golden.order, golden.cutoff, 0.5), x);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      SCOPED_TRACE(::testing::Message() << "order " << golden.order << " row " << rows[i]);
      EXPECT_NEAR(y[rows[i]], golden.y[i], 1e-12);
    }
  }
}

// A straight line is reflected into itself, and a low-pass has gain 1 and no net lag: it must come
// back. A start from rest, an even reflection or a single pass would bend the ends. At the ends the
// forward pass still settles on the slope: |slope| · lag · r^padding with pole radius r; at order 2
// and a quarter of the sampling rate r = 0.41, lag 0.7, padding 9 samples.
TEST(Filtfilt, LeavesAStraightLineUnchanged) {
  const Eigen::VectorXd line = Eigen::VectorXd::LinSpaced(200, 3.0, -2.0);
  const Eigen::VectorXd y = filtfilt(design_butterworth_low_pass(2, 125.0, 2e-3), line);
  const double slope = 5.0 / 199.0;
  EXPECT_LT((y - line).cwiseAbs().maxCoeff(), slope * 0.7 * std::pow(0.41421, 9));
  EXPECT_LT((y - line).segment(60, 80).cwiseAbs().maxCoeff(), 1e-14);
}

// Zero phase and |H|² of one pass, in closed form. The middle of a long sine is far from both ends,
// so transients have decayed.
TEST(Filtfilt, ScalesASineBySquaredMagnitudeWithoutLag) {
  constexpr double kPeriod = 1e-3, kCutoff = 10.0;
  constexpr int kSamples = 8001;
  for (const double frequency : {1.0, 10.0, 25.0}) {
    const double omega = 2.0 * std::numbers::pi * frequency * kPeriod;
    const Eigen::VectorXd x =
        (omega * Eigen::ArrayXd::LinSpaced(kSamples, 0.0, kSamples - 1.0) + 0.4).sin();
    const Eigen::VectorXd y = filtfilt(design_butterworth_low_pass(2, kCutoff, kPeriod), x);
    const double ratio = std::tan(0.5 * omega) / std::tan(std::numbers::pi * kCutoff * kPeriod);
    const double gain = 1.0 / (1.0 + std::pow(ratio, 4));
    EXPECT_LT((y - gain * x).segment(3000, 2000).cwiseAbs().maxCoeff(), 1e-10) << frequency;
  }
}

// Samples on either side of a gap must not affect each other, and none are made up inside it.
TEST(Filtfilt, FiltersEachSpanBetweenNaNsSeparately) {
  const SectionCascade sections = design_butterworth_low_pass(2, 10.0, 1e-3);
  Eigen::VectorXd x = (0.05 * Eigen::ArrayXd::LinSpaced(120, 0.0, 119.0)).sin();
  x[0] = kNaN;
  x.segment(50, 3).setConstant(kNaN);
  x[54] = kNaN;  // leaves sample 53 alone
  x[119] = kNaN;
  const Eigen::VectorXd y = filtfilt(sections, x);
  EXPECT_TRUE(y.segment(1, 49).isApprox(filtfilt(sections, x.segment(1, 49)), 0.0));
  EXPECT_TRUE(y.segment(55, 64).isApprox(filtfilt(sections, x.segment(55, 64)), 0.0));
  EXPECT_EQ(y[53], x[53]);
  for (const int k : {0, 50, 51, 52, 54, 119}) EXPECT_TRUE(std::isnan(y[k])) << k;
  EXPECT_TRUE(y.segment(1, 49).allFinite());
}

// A span shorter than the padding must neither read outside itself nor grow.
TEST(Filtfilt, HandlesSpansShorterThanThePadding) {
  const SectionCascade sections = design_butterworth_low_pass(3, 100.0, 1e-3);
  EXPECT_EQ(filtfilt(sections, Eigen::VectorXd(0)).size(), 0);
  for (int n = 1; n <= 14; ++n) {
    const Eigen::VectorXd x = Eigen::VectorXd::Constant(n, 2.5);
    const Eigen::VectorXd y = filtfilt(sections, x);
    ASSERT_EQ(y.size(), n);
    EXPECT_LT((y - x).cwiseAbs().maxCoeff(), 1e-12) << n;
  }
}

TEST(Filtfilt, FiltersColumnsIndependently) {
  const SectionCascade sections = design_butterworth_low_pass(2, 10.0, 1e-3);
  Eigen::MatrixXd x(100, 2);
  x.col(0) = (0.02 * Eigen::ArrayXd::LinSpaced(100, 0.0, 99.0)).cos();
  x.col(1) = Eigen::VectorXd::LinSpaced(100, -1.0, 4.0);
  x(30, 1) = kNaN;
  const Eigen::MatrixXd y = filtfilt_columns(sections, x);
  EXPECT_EQ((y.col(0) - filtfilt(sections, x.col(0))).cwiseAbs().maxCoeff(), 0.0);
  EXPECT_EQ((y.col(1) - filtfilt(sections, x.col(1))).tail(69).cwiseAbs().maxCoeff(), 0.0);
}

}  // namespace
}  // namespace estimator
