#include "estimator/signal/resample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace estimator {
namespace {

TEST(Decimate, KeepsRowZeroAndEveryFactorth) {
  const Eigen::MatrixXd x = Eigen::VectorXd::LinSpaced(11, 0.0, 10.0);
  EXPECT_EQ(decimate(x, 5).rows(), 3);
  EXPECT_EQ(decimate(x, 5)(2, 0), 10.0);
  EXPECT_EQ(decimate(x, 4).rows(), 3);
  EXPECT_EQ(decimate(x, 4)(2, 0), 8.0);
  EXPECT_EQ(decimate(x, 1), x);
}

// ∫u over any interval, by brute force on a grid that contains all edges. Catches a shift by one
// sample, and a delay or moment of the wrong sign.
TEST(AverageControls, AgreesWithBruteForceForAnyRatioAndDelay) {
  Eigen::MatrixXd u(12, 2);
  for (int k = 0; k < 12; ++k) u.row(k) << std::sin(1.3 * k), (k % 5) - 2.0;
  constexpr int kCells = 60;  // per period
  constexpr double kPeriod = 0.02;
  for (const double ratio : {3.0, 1.0, 0.5, 0.25, 1.5}) {      // h / T
    for (const double delay : {0.0, 1.0, 0.7, 2.25, -0.45}) {  // in periods
      SCOPED_TRACE(::testing::Message() << "ratio " << ratio << " delay " << delay);
      const int steps = static_cast<int>(12.0 / ratio);
      const StepControls actual =
          average_controls(u, kPeriod, ratio * kPeriod, steps, delay * kPeriod);
      ASSERT_EQ(actual.mean.rows(), steps);
      const int cells = static_cast<int>(std::lround(ratio * kCells));
      for (int k = 0; k < steps; ++k) {
        Eigen::RowVector2d mean = Eigen::RowVector2d::Zero(), moment = Eigen::RowVector2d::Zero();
        for (int c = 0; c < cells; ++c) {
          const double tau = (c + 0.5) / cells - 0.5;
          const double time = (k + (c + 0.5) / cells) * ratio - delay;  // in periods
          const int row = std::clamp(static_cast<int>(std::floor(time)), 0, 11);
          mean += u.row(row) / cells;
          moment += u.row(row) * tau / cells;
        }
        EXPECT_LT((actual.mean.row(k) - mean).cwiseAbs().maxCoeff(), 1e-12) << k;
        EXPECT_LT((actual.first_moment.row(k) - moment).cwiseAbs().maxCoeff(), 1e-12) << k;
      }
    }
  }
}

// The signal is held far beyond its ends at the cost of one sample: a delay in a wrong unit must
// not keep a calibration busy forever.
TEST(AverageHeld, HoldsTheSignalForAnyTime) {
  const Eigen::Vector3d u(5.0, 1.0, 7.0);
  EXPECT_EQ(average_held_control(u, -1e17, -1e17 + 64.0).mean, 5.0);
  EXPECT_EQ(average_held_control(u, 1e17, 1e17 + 64.0).mean, 7.0);
  const ControlMoments both = average_held_control(u, -1e12, 1e12);
  EXPECT_NEAR(both.mean, 6.0, 1e-9);
  EXPECT_NEAR(both.first_moment, 0.25, 1e-9);  // (7 − 5)/8
}

TEST(Resample, DecimatesAnglesAndAveragesControls) {
  Segment segment{.start = 2.0,
                  .period = 0.001,
                  .angles = Eigen::VectorXd::LinSpaced(11, 0.0, 10.0),
                  .controls = Eigen::VectorXd::LinSpaced(11, 0.0, 10.0),
                  .held_out = {}};
  const Segment resampled = resample_segment(segment, 0.005);
  EXPECT_EQ(resampled.start, 2.0);
  EXPECT_EQ(resampled.period, 0.005);
  ASSERT_EQ(resampled.sample_count(), 3);
  EXPECT_EQ(resampled.angles(1, 0), 5.0);
  ASSERT_EQ(resampled.controls.rows(), 3);
  EXPECT_NEAR(resampled.controls(0, 0), 2.0, 1e-12);   // mean of 0 … 4
  EXPECT_NEAR(resampled.controls(1, 0), 7.0, 1e-12);   // mean of 5 … 9
  EXPECT_NEAR(resampled.controls(2, 0), 10.0, 1e-12);  // held
}

TEST(Resample, MarksNodesBetweenSamplesAsNotObserved) {
  Segment segment{.start = 0.0,
                  .period = 0.05,
                  .angles = Eigen::VectorXd::LinSpaced(3, 0.0, 2.0),
                  .controls = Eigen::VectorXd::LinSpaced(3, 5.0, 7.0),
                  .held_out = {}};
  const Segment resampled = resample_segment(segment, 0.025);
  ASSERT_EQ(resampled.sample_count(), 5);
  for (const int k : {0, 2, 4}) EXPECT_EQ(resampled.angles(k, 0), 0.5 * k);
  for (const int k : {1, 3}) EXPECT_TRUE(std::isnan(resampled.angles(k, 0)));
  for (int k = 0; k < 5; ++k) EXPECT_NEAR(resampled.controls(k, 0), 5.0 + k / 2, 1e-12);
}

}  // namespace
}  // namespace estimator
