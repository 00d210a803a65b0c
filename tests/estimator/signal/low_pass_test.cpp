#include "estimator/signal/low_pass.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <stdexcept>

#include "tests/support/not_a_number.hpp"

namespace estimator {
namespace {

using test_support::kNaN;

constexpr double kEvery = 1e-3;  // [s]
constexpr double kUsual = 10.0;  // [Hz]
constexpr Eigen::Index kRows = 4000;

Eigen::MatrixXd sine(double frequency, double amplitude) {
  Eigen::MatrixXd signal(kRows, 1);
  for (Eigen::Index k = 0; k < kRows; ++k) {
    signal(k, 0) =
        amplitude * std::sin(2.0 * std::numbers::pi * frequency * static_cast<double>(k) * kEvery);
  }
  return signal;
}

Eigen::MatrixXd noise(double deviation) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0.0, deviation);
  return Eigen::MatrixXd::NullaryExpr(kRows, 1, [&] { return normal(random); });
}

// Away from the ends, which are reflected.
double rms_inside(const Eigen::MatrixXd& signal) {
  const auto inside = signal.middleRows(kRows / 8, 3 * kRows / 4);
  return std::sqrt(inside.squaredNorm() / static_cast<double>(inside.rows()));
}

TEST(LowPass, PassesAQuarterOfThePowerAtItsCutoff) {
  const Eigen::MatrixXd signal = sine(kUsual, 1.0);
  // 1/√2 forward, 1/√2 backward; the sine's ends leave 1e-3.
  EXPECT_NEAR(rms_inside(apply_low_pass(signal, kUsual, kEvery)), 0.5 * rms_inside(signal), 1e-3);
}

// Just below 0.8 of the Nyquist frequency it filters, from there on it does not.
TEST(LowPass, KeepsSignalsIfTheCutoffIsTooHigh) {
  const Eigen::MatrixXd signal = noise(1.0);
  EXPECT_EQ(apply_low_pass(signal, 400.0, kEvery), signal);
  EXPECT_NE(apply_low_pass(signal, 399.0, kEvery), signal);
  EXPECT_EQ(apply_noise_matched_low_pass(signal, std::numeric_limits<double>::infinity(), kEvery),
            signal);
}

// At 10 Hz nine tenths of a 20 Hz motion would be lost; the loss must not exceed the noise.
TEST(LowPass, FollowsFastMotionToTheNoiseLevel) {
  constexpr double kNoise = 1e-3;
  const Eigen::MatrixXd motion = sine(20.0, 1.0);
  const Eigen::MatrixXd readings = motion + noise(kNoise);
  EXPECT_GT(rms_inside(apply_low_pass(readings, kUsual, kEvery) - motion), 0.5);
  EXPECT_LT(rms_inside(apply_noise_matched_low_pass(readings, kUsual, kEvery) - motion),
            2.0 * kNoise);
}

// Noise does not raise the cutoff, nor does the jump of an encoder slip.
TEST(LowPass, KeepsItsCutoffForNoiseAndJumps) {
  Eigen::MatrixXd jump = Eigen::MatrixXd::Zero(kRows, 1);
  jump.bottomRows(kRows / 2).setOnes();
  for (const Eigen::MatrixXd& readings : {noise(1e-3), jump}) {
    EXPECT_EQ(apply_noise_matched_low_pass(readings, kUsual, kEvery),
              apply_low_pass(readings, kUsual, kEvery));
  }
}

// A fast joint beside a slow one: each has its own cutoff.
TEST(LowPass, RaisesTheCutoffOfEachSignalSeparately) {
  Eigen::MatrixXd both(kRows, 2);
  both << sine(20.0, 1.0) + noise(1e-3), noise(1e-3);
  const Eigen::MatrixXd filtered = apply_noise_matched_low_pass(both, kUsual, kEvery);
  EXPECT_EQ(filtered.col(1), apply_low_pass(both.col(1), kUsual, kEvery).col(0));
  EXPECT_GT((filtered.col(0) - apply_low_pass(both.col(0), kUsual, kEvery).col(0)).norm(), 1.0);
}

// Missing readings stay missing, and no other readings are lost with them.
TEST(LowPass, KeepsMissingReadingsMissing) {
  const Eigen::MatrixXd motion = sine(20.0, 1.0);
  Eigen::MatrixXd readings = motion + noise(1e-3);
  readings.middleRows(kRows / 2, 5).setConstant(std::numeric_limits<double>::quiet_NaN());
  const Eigen::MatrixXd filtered = apply_noise_matched_low_pass(readings, kUsual, kEvery);
  EXPECT_TRUE(filtered.middleRows(kRows / 2, 5).hasNaN());
  EXPECT_LT((filtered - motion).middleRows(kRows / 8, kRows / 4).cwiseAbs().maxCoeff(), 0.01);
}

std::complex<double> response(const SectionCascade& sections, double cycles_per_sample) {
  const std::complex<double> z_inverse =
      std::polar(1.0, -2.0 * std::numbers::pi * cycles_per_sample);
  std::complex<double> gain = 1.0;
  for (const SecondOrderSection& s : sections) {
    gain *= (s.b0 + z_inverse * (s.b1 + z_inverse * s.b2)) /
            (1.0 + z_inverse * (s.a1 + z_inverse * s.a2));
  }
  return gain;
}

// The magnitude defines the filter. Catches missing prewarping, a wrong pole angle or a wrong gain
// of any section at some order and frequency. Does not test the phase.
TEST(ButterworthLowPass, HasTheMagnitudeOfItsDefinition) {
  constexpr double kPeriod = 2e-3;
  for (const double cutoff : {0.5, 10.0, 90.0, 240.0}) {
    for (int order = 1; order <= 8; ++order) {
      const SectionCascade sections = design_butterworth_low_pass(order, cutoff, kPeriod);
      for (const double frequency : {0.0, 0.3, 5.0, 10.0, 60.0, 200.0, 245.0}) {
        SCOPED_TRACE(::testing::Message() << order << " " << cutoff << " Hz, " << frequency);
        const double ratio = std::tan(std::numbers::pi * frequency * kPeriod) /
                             std::tan(std::numbers::pi * cutoff * kPeriod);
        const double expected = 1.0 / std::sqrt(1.0 + std::pow(ratio, 2 * order));
        // Round-off grows with (1/K)² per section at low cutoffs: K = 3e-3 here, 4 sections.
        EXPECT_NEAR(std::abs(response(sections, frequency * kPeriod)), expected, 1e-9);
      }
    }
  }
}

// Poles outside the unit circle have the same magnitude; only stability distinguishes them. A
// section is stable when |a2| < 1 and |a1| < 1 + a2.
TEST(ButterworthLowPass, IsStable) {
  for (int order = 1; order <= 12; ++order) {
    for (const SecondOrderSection& s : design_butterworth_low_pass(order, 10.0, 1e-3)) {
      EXPECT_LT(std::abs(s.a2), 1.0);
      EXPECT_LT(std::abs(s.a1), 1.0 + s.a2);
    }
  }
}

TEST(ButterworthLowPass, RejectsACutoffItCannotRealise) {
  EXPECT_THROW(design_butterworth_low_pass(2, 500.0, 1e-3), std::invalid_argument);
  EXPECT_THROW(design_butterworth_low_pass(2, 0.0, 1e-3), std::invalid_argument);
  EXPECT_THROW(design_butterworth_low_pass(0, 10.0, 1e-3), std::invalid_argument);
  EXPECT_THROW(design_butterworth_low_pass(2, 10.0, 0.0), std::invalid_argument);
}

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
