#include "estimator/signal/resample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "estimator/signal/step_grid.hpp"

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
      const StepControlMoments actual =
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

TEST(StepToPeriodRatio, FindsMultiplesAndFractions) {
  EXPECT_EQ(step_to_period_ratio(0.01, 0.001).periods_per_step, 10);
  EXPECT_EQ(step_to_period_ratio(0.01, 0.001).steps_per_period, 1);
  EXPECT_EQ(step_to_period_ratio(0.01, 0.05).periods_per_step, 1);
  EXPECT_EQ(step_to_period_ratio(0.01, 0.05).steps_per_period, 5);
  EXPECT_EQ(step_to_period_ratio(0.004, 0.0040000001).periods_per_step, 1);  // rounded time stamps
  EXPECT_THROW(step_to_period_ratio(0.0015, 0.001), std::invalid_argument);
  EXPECT_THROW(step_to_period_ratio(0.0, 0.001), std::invalid_argument);
  EXPECT_EQ(step_to_period_ratio(1e6, 0.001).periods_per_step, 1'000'000'000);
  EXPECT_EQ(step_to_period_ratio(0.001, 1e6).steps_per_period, 1'000'000'000);
  EXPECT_THROW(step_to_period_ratio(1e7, 0.001), std::invalid_argument);  // not an int
  EXPECT_THROW(step_to_period_ratio(0.001, 1e7), std::invalid_argument);
  EXPECT_THROW(step_to_period_ratio(std::nan(""), 0.001), std::invalid_argument);
  EXPECT_THROW(step_to_period_ratio(0.001, std::nan("")), std::invalid_argument);
}

// Time stamps are rounded; a larger difference is another number.
TEST(WholeNumber, ToleratesAMillionth) {
  EXPECT_EQ(round_to_integer_ratio(1.0), 1);
  EXPECT_EQ(round_to_integer_ratio(3.0 * (1.0 + 0.9e-6)), 3);
  EXPECT_EQ(round_to_integer_ratio(3.0 * (1.0 - 0.9e-6)), 3);
  for (const double ratio :
       {3.0 * (1.0 + 1.1e-6), 3.0 * (1.0 - 1.1e-6), 0.4, 0.0, -1.0, 2e9, std::nan(""), HUGE_VAL}) {
    EXPECT_FALSE(round_to_integer_ratio(ratio)) << ratio;
  }
}

// A requested step becomes the grid step near it, above or below a period, or else stays as it is.
TEST(NearestStep, IsCompatibleOrAsRequested) {
  constexpr double kPeriod = 1.00002e-3;  // of a clock that errs by 20 ppm
  EXPECT_EQ(nearest_compatible_step(0.01, kPeriod), 10.0 * kPeriod);
  EXPECT_EQ(nearest_compatible_step(0.25e-3, kPeriod), kPeriod / 4.0);
  EXPECT_EQ(nearest_compatible_step(1.5e-3, kPeriod), 1.5e-3);
  EXPECT_EQ(nearest_compatible_step(0.7e-3, kPeriod), 0.7e-3);
  EXPECT_EQ(nearest_compatible_step(0.01, 1.001e-3, 1e-4), 0.01);  // further off than the tolerance
}

// Ten periods of an inexact clock count as 10 ms, eleven do not. A too long period is split into
// the fewest parts that are short enough.
TEST(LongestStep, IsTheLongestOnTheGrid) {
  EXPECT_EQ(longest_compatible_step(0.01, 1.0009e-3), 10.0 * 1.0009e-3);
  EXPECT_EQ(longest_compatible_step(0.01, 1.02e-3), 9.0 * 1.02e-3);
  EXPECT_EQ(longest_compatible_step(0.01, 0.01), 0.01);
  EXPECT_EQ(longest_compatible_step(0.01, 0.05), 0.05 / 5.0);
  EXPECT_EQ(longest_compatible_step(0.01, 0.0504), 0.0504 / 5.0);
  EXPECT_EQ(longest_compatible_step(0.01, 0.052), 0.052 / 6.0);
}

// If a motion is too fast for a period, steps are counted in fractions of it, at least one.
TEST(TicksInStep, AreAtLeastOne) {
  EXPECT_EQ(tick_dividing_steps(2e-3, 1e-3), 1e-3);
  EXPECT_EQ(tick_dividing_steps(0.4e-3, 1e-3), 1e-3 / 3.0);
  EXPECT_EQ(tick_count_of_step(2e-3, 1e-3), 2);
  EXPECT_EQ(tick_count_of_step(1.99e-3, 1e-3), 2);
  EXPECT_EQ(tick_count_of_step(1.97e-3, 1e-3), 1);
  EXPECT_EQ(tick_count_of_step(1e-6, 1e-3), 1);
  // Steps on the grid are as requested, whatever the clock: no step is lost or doubled.
  for (double ratio = 0.011; ratio < 30.0; ratio *= 1.007) {
    const double step = longest_compatible_step(ratio, 1.0);
    EXPECT_LE(step, ratio / (1.0 - kStepExcess) * (1.0 + 1e-12)) << ratio;
    EXPECT_GT(step, 0.49 * ratio) << ratio;
    EXPECT_NO_THROW(step_to_period_ratio(step, 1.0)) << ratio;
  }
}

// For any number of steps, the last reading is reached, and round-off adds none.
TEST(TicksOver, IncludeTheLastReading) {
  EXPECT_EQ(tick_count_of_duration(0.0, 1e-3), 1);
  EXPECT_EQ(tick_count_of_duration(1e-3 / 3.0, 1e-3), 1);
  EXPECT_EQ(tick_count_of_duration(2.1e-3, 1e-3), 3);
  for (const int ticks : {3, 500'000, 3'000'001}) {
    EXPECT_EQ(tick_count_of_duration(ticks * (1e-3 / 3.0), 1e-3 / 3.0), ticks);
  }
}

// In thirds of a period: two of them end at the next sample, the one before does not reach it, and
// steps of several periods end at a sample as well.
TEST(EndOfStep, IsAtTheSampleThatItReaches) {
  EXPECT_EQ(step_end_tick(0, 2, 3), 2);
  EXPECT_EQ(step_end_tick(2, 2, 3), 3);
  EXPECT_EQ(step_end_tick(1, 1, 3), 2);
  EXPECT_EQ(step_end_tick(3, 3, 3), 6);
  EXPECT_EQ(step_end_tick(4, 7, 3), 9);
  EXPECT_EQ(step_end_tick(5, 4, 1), 9);
}

}  // namespace
}  // namespace estimator
