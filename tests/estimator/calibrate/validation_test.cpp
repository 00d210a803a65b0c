#include "estimator/calibrate/validation.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <stdexcept>

#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/not_a_number.hpp"
#include "tests/support/refusal.hpp"

namespace estimator {
namespace {

using namespace test_support;
using test_support::swing;

constexpr double kNoise = 1e-3;  // [rad]

SegmentTrajectory trajectory(const Eigen::VectorXd& measured, const Eigen::VectorXd& simulated) {
  SegmentTrajectory result;
  result.measured = measured;
  result.simulated = simulated;
  return result;
}

// Missing readings do not count, full turns are no error, and a diverged simulation is a bad one.
// SPOOK's first row is not a divergence.
TEST(PredictionError, AveragesOverReadingsOnly) {
  const auto four = trajectory(Eigen::Vector4d(0.0, 1.0, kNaN, 3.0),
                               Eigen::Vector4d(kNaN, 1.3, 9.0, 3.4 + 2.0 * M_PI));
  const PredictionError error = compute_prediction_error(four, 0, JointKind::kRevolute);
  EXPECT_EQ(error.readings, 2U);
  EXPECT_NEAR(error.rmse(), std::sqrt((0.09 + 0.16) / 2.0), 1e-12);
  EXPECT_NEAR(error.largest, 0.4, 1e-12);
  EXPECT_GT(compute_prediction_error(four, 0, JointKind::kPrismatic).largest, 6.0);
  EXPECT_EQ(compute_prediction_error(four, 0, JointKind::kRevolute, 2).readings, 1U);
  const auto broken = trajectory(Eigen::Vector2d(0.0, 1.0), Eigen::Vector2d(0.0, kNaN));
  EXPECT_TRUE(std::isnan(compute_prediction_error(broken, 0, JointKind::kRevolute).rmse()));
  EXPECT_TRUE(std::isnan(compute_prediction_error(broken, 0, JointKind::kRevolute).largest));
  EXPECT_TRUE(std::isnan(PredictionError{}.rmse()));
}

// An error of 0.1 m of a prismatic joint counts as much as one of one radian.
TEST(PredictionError, ScalesPrismaticJoints) {
  SegmentTrajectory both;
  both.measured = Eigen::RowVector2d(0.0, 0.0);
  both.simulated = Eigen::RowVector2d(0.3, 0.04);
  EXPECT_NEAR(compute_pooled_rmse({both}, {JointKind::kRevolute, JointKind::kPrismatic}),
              std::sqrt((0.09 + 0.16) / 2.0), 1e-12);
}

ReferencePendulum damped() { return {.b = 1e-3}; }

Recording in_windows(const Recording& recording, int rows) {
  Recording result{recording.name, {}};
  const Segment& whole = recording.segments.front();
  for (int first = 0; first + rows <= whole.sample_count(); first += rows) {
    Segment part;
    part.period = whole.period;
    part.start = first * whole.period;
    part.angles = whole.angles.middleRows(first, rows);
    part.controls = whole.controls.middleRows(first, rows);
    result.segments.push_back(part);
  }
  return result;
}

// True parameters leave residuals at the noise level, in windows and from their starts. The
// uncertain state of short readings adds to them. Wrong parameters leave more, most where the state
// cannot compensate.
TEST(Validation, DistinguishesCorrectFromWrongParameters) {
  const Recording whole = swing(damped(), "run", 1.5, 1200, 5e-3, kNoise, 3);
  const Recording windows = in_windows(whole, 300);
  const auto rmse = [](const Validation& validation) {
    PredictionError all;
    for (const auto& window : validation.windows) all.add(window.errors.front());
    return all.rmse();
  };
  const Mechanism right = pendulum_of(damped());
  Mechanism wrong = right;
  wrong.parameter(0, BodyParameter::kJzz).value *= 1.02;
  const Validation whole_right = validate_parameters(right, right, {whole}, {});
  EXPECT_NEAR(rmse(whole_right), kNoise, 0.1 * kNoise);
  EXPECT_NEAR(whole_right.noise.front(), kNoise, 0.2 * kNoise);
  ASSERT_EQ(whole_right.windows.size(), 1U);
  EXPECT_TRUE(whole_right.windows.front().fitted);
  EXPECT_GT(rmse(validate_parameters(right, wrong, {whole}, {})), 10.0 * kNoise);

  const Validation cut = validate_parameters(right, right, {windows}, {});
  EXPECT_EQ(cut.windows.size(), 4U);
  EXPECT_NEAR(rmse(cut), kNoise, 0.1 * kNoise);
  const Validation started = validate_parameters(right, right, {windows}, {}, 0.5);
  ASSERT_EQ(started.windows.size(), 4U);
  EXPECT_EQ(started.windows[1].errors.front().readings, 200U)
      << "the first 100 rows are not judged";
  EXPECT_NEAR(started.windows[1].start, 2.0, 1e-9);
  EXPECT_NEAR(started.windows[1].end, 2.995, 1e-9);
  EXPECT_LT(rmse(started), 1.5 * kNoise);
  const double flattered = rmse(validate_parameters(right, wrong, {windows}, {}));
  EXPECT_GT(flattered, 1.2 * kNoise);
  EXPECT_GT(rmse(validate_parameters(right, wrong, {windows}, {}, 0.5)), 1.2 * flattered);
}

// Irregular rows keep their times, also after the part from which the state is estimated.
TEST(Validation, AcceptsIrregularTimeStamps) {
  Recording run = swing(damped(), "run", 1.5, 600, 5e-3, kNoise, 3);
  Segment& segment = run.segments.front();
  const Segment whole = segment;
  segment.times.clear();
  Eigen::Index kept = 0;
  for (int k = 0; k < whole.sample_count(); ++k) {
    if (k % 3 == 1) continue;
    segment.angles.row(kept++) = whole.angles.row(k);
    segment.times.push_back(whole.time(k));
  }
  segment.angles.conservativeResize(kept, Eigen::NoChange);
  segment.controls.conservativeResize(kept, Eigen::NoChange);
  segment.period = segment.times.back() / static_cast<double>(kept - 1);
  const Mechanism right = pendulum_of(damped());
  for (const double start_window : {0.0, 0.5}) {
    const Validation validation = validate_parameters(right, right, {run}, {}, start_window);
    ASSERT_EQ(validation.trajectories.size(), 1U);
    EXPECT_EQ(validation.trajectories[0].times, segment.times);
    EXPECT_NEAR(validation.windows[0].errors[0].rmse(), kNoise, 0.5 * kNoise);
    EXPECT_NEAR(validation.windows[0].end, whole.time(whole.sample_count() - 1), 1e-9);
    EXPECT_NEAR(validation.noise[0], kNoise, 0.2 * kNoise);
  }
}

// Every parameter is fixed, also those that the rig file frees.
TEST(Validation, FixesAllParameters) {
  const Recording run = swing(damped(), "run", 1.5, 600, 5e-3, kNoise, 3);
  const Mechanism fixed = pendulum_of(damped());
  const Mechanism free = freed(fixed, {"P.J_zz", "1.b"});
  EXPECT_EQ(validate_parameters(free, free, {run}, {}).windows.front().errors.front().squares,
            validate_parameters(fixed, fixed, {run}, {}).windows.front().errors.front().squares);
}

TEST(Validation, OmitsRestIntervalsAndRejectsAnEmptyRemainder) {
  const Mechanism rig = pendulum_of(damped());
  Recording run = swing(damped(), "run", 1.5, 600, 5e-3, kNoise, 3);
  run.segments.push_back(run.segments.front());
  run.segments.back().angles.setConstant(0.25);
  const Validation validation = validate_parameters(rig, rig, {run}, {});
  EXPECT_EQ(validation.windows.size(), 1U);
  EXPECT_EQ(validation.still, 1);
  const auto message = [&](double start_window, const CalibrationOptions& options) {
    return refusal<std::invalid_argument>(
        [&] { validate_parameters(rig, rig, {run}, options, start_window); });
  };
  EXPECT_NE(message(3.1, {}).find("nothing is left to validate"), std::string::npos);
  CalibrationOptions shadow;
  shadow.kind = EstimateKind::kShadow;
  EXPECT_NE(message(0.5, shadow).find("physical"), std::string::npos);
}

TEST(Validation, StopsOnRequest) {
  const Mechanism rig = pendulum_of(damped());
  const std::atomic<bool> stop{true};
  CalibrationMonitor monitor;
  monitor.stop = &stop;
  const Validation validation = validate_parameters(
      rig, rig, {swing(damped(), "run", 1.5, 600, 5e-3, kNoise, 3)}, {}, 0.0, monitor);
  EXPECT_TRUE(validation.stopped);
  EXPECT_TRUE(validation.windows.empty());
}

// Parameters of a SPOOK simulator are evaluated with that simulator.
TEST(Validation, ValidatesShadowParameters) {
  const Mechanism rig = pendulum_of(damped());
  CalibrationOptions options;
  options.kind = EstimateKind::kShadow;
  const Validation validation =
      validate_parameters(rig, rig, {swing(damped(), "run", 0.5, 600, 5e-3, kNoise, 3)}, options);
  ASSERT_EQ(validation.windows.size(), 1U);
  EXPECT_TRUE(std::isfinite(validation.windows.front().errors.front().rmse()));
  EXPECT_GT(validation.windows.front().errors.front().readings, 590U);
}

}  // namespace
}  // namespace estimator
