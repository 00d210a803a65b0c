#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "estimator/calibrate/calibrate.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kLongPeriod = 5e-3;

Recording forty_seconds(const ReferenceFuruta& rig) {
  return test_support::record(rig, Eigen::Vector4d::Zero(), three_sines(8000, kLongPeriod),
                              kLongPeriod, 1e-3, 11);
}

bool has_solve(const Calibration& result, SolveKind kind) {
  return std::ranges::any_of(result.history,
                             [&](const IterationRecord& record) { return record.kind == kind; });
}

// From inertias wrong by a factor of three the first iterations use an excerpt. The estimates are
// still those of the whole recording.
TEST(LongRecording, IsFirstFittedOnAnExcerpt) {
  const ReferenceFuruta rig = viscous_furuta();
  const std::vector<Recording> recordings = {forty_seconds(rig)};
  const Calibration near = calibrate(free_furuta(rig, 1.0), recordings);
  const Calibration far = calibrate(free_furuta(rig, 3.0), recordings);
  EXPECT_TRUE(far.converged());
  for (std::size_t i = 0; i < far.parameters.size(); ++i) {
    const ParameterEstimate& estimate = far.parameters[i];
    EXPECT_NEAR(estimate.value, near.parameters[i].value, 0.05 * estimate.standard_deviation)
        << estimate.name;
  }
  EXPECT_TRUE(has_solve(far, SolveKind::kAllFromExcerpt));
  EXPECT_FALSE(has_solve(far, SolveKind::kAllFromStart));
}

// If the fit of the excerpt does not come close to the readings, all data are also fitted from the
// initial values. Here no fit comes close: accelerations are eight times as large as the model's.
TEST(LongRecording, IsRefittedFromTheInitialValuesIfTheExcerptFails) {
  const ReferenceFuruta rig = viscous_furuta();
  Recording faster = forty_seconds(rig);
  for (Segment& segment : faster.segments) segment.angles *= 8.0;
  const Calibration result = calibrate(free_furuta(rig, 1.0), {faster});
  EXPECT_TRUE(has_solve(result, SolveKind::kAllFromExcerpt));
  EXPECT_TRUE(has_solve(result, SolveKind::kAllFromStart));
}

// Iterations on an excerpt do not count toward the requested maximum.
TEST(LongRecording, DoesNotCountIterationsOnTheExcerpt) {
  const ReferenceFuruta rig = viscous_furuta();
  CalibrationOptions options;
  options.max_iterations = 10;
  const Calibration result =
      calibrate(test_support::free_furuta(rig, 3.0), {forty_seconds(rig)}, options);
  EXPECT_TRUE(result.converged());
  EXPECT_GT(result.history.back().iteration, options.max_iterations);
}

}  // namespace
}  // namespace estimator
