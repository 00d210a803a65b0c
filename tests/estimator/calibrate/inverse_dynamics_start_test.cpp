#include "estimator/fit/physical/inverse_dynamics_start.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "estimator/fit/physical/equation_error.hpp"
#include "tests/estimator/dense_problem.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kEvery = 2e-3;  // sampling period [s]
/// Largest relative error of a start. Friction is a twentieth of the other torques, which the
/// filtered accelerations reproduce within about 2 %.
constexpr double kNearTruth = 0.6;

Recording driven_furuta(const ReferenceFuruta& rig) {
  return record(rig, Eigen::Vector4d(0.0, 0.5, 0.0, 0.0), three_sines(3000, kEvery), kEvery, 5e-4,
                5);
}

/// Returns the largest relative error of the free parameters.
double worst_error(const Mechanism& reached, const Mechanism& truth) {
  double worst = 0.0;
  for (std::size_t i = 0; i < truth.parameters.size(); ++i) {
    if (!reached.parameters[i].free) continue;
    const double value = truth.parameters[i].value;
    worst = std::max(worst, std::abs(reached.parameters[i].value - value) / value);
  }
  return worst;
}

// Catches a value that depends on its start, and wrong averages, controls, directions or weights.
TEST(InverseDynamicsStart, IsNearTheTruthFromAnyGivenValue) {
  const ReferenceFuruta rig = viscous_furuta();
  const Mechanism truth = mechanism_of(rig);
  const Mechanism near = free_furuta(rig, 1.0);
  const ShootingInput input = prepare_shooting_data(near, {driven_furuta(rig)}, {});
  for (std::size_t i = 0; i < near.parameters.size(); ++i) {
    if (!near.parameters[i].free) continue;
    for (const double factor : {1e-3, 1e3}) {
      SCOPED_TRACE(near.parameters[i].name);
      Mechanism far = near;
      far.parameters[i].value *= factor;
      const std::optional<Mechanism> start = estimate_by_inverse_dynamics(far, input, {});
      ASSERT_TRUE(start);
      EXPECT_LT(worst_error(*start, truth), kNearTruth);
    }
  }
}

TEST(InverseDynamicsStart, FindsEncoderOffsets) {
  const ReferenceFuruta rig = viscous_furuta();
  Mechanism given = free_furuta(rig, 2.0);
  given.joint_parameter(1, JointParameter::kEncoderOffset).free = true;
  Recording recording = driven_furuta(rig);
  recording.segments[0].angles.col(1).array() -= 0.1;
  const ShootingInput input = prepare_shooting_data(given, {recording}, {});
  const std::optional<Mechanism> start = estimate_by_inverse_dynamics(given, input, {});
  ASSERT_TRUE(start);
  EXPECT_NEAR(start->joint_parameter(1, JointParameter::kEncoderOffset).value, 0.1, 0.01);
}

TEST(InverseDynamicsStart, NeedsAnEncoderAtEveryJoint) {
  const ReferenceFuruta rig = viscous_furuta();
  Mechanism given = free_furuta(rig, 1.0);
  const ShootingInput input = prepare_shooting_data(given, {driven_furuta(rig)}, {});
  given.joints[0].measured = false;
  EXPECT_FALSE(estimate_by_inverse_dynamics(given, input, {}));
}

TEST(EquationErrorProblem, HasExactDerivatives) {
  const ReferenceFuruta rig = viscous_furuta();
  Mechanism given = free_furuta(rig, 1.5);
  for (const JointParameter quantity :
       {JointParameter::kEncoderOffset, JointParameter::kCoulombTorque}) {
    given.joint_parameter(1, quantity).free = true;
    given.joint_parameter(1, quantity).value = 0.01;
  }
  const ShootingInput input = prepare_shooting_data(given, {driven_furuta(rig)}, {});
  const MotionWindows motion = select_motion_windows(given, input, 10.0);
  expect_derivatives(EquationErrorProblem(given, motion));
}

// A fit from values that predict the recording starts there.
TEST(InverseDynamicsStart, LeavesGoodValuesUnchanged) {
  const ReferenceFuruta rig = viscous_furuta();
  const Mechanism truth = mechanism_of(rig);
  Mechanism start = free_furuta(rig, 1.0);
  copy_parameter_values(truth, start);
  begin_shooting_fit({driven_furuta(rig)}, {}, {}, {}, start);
  EXPECT_EQ(worst_error(start, truth), 0.0);
  for (Parameter& parameter : start.parameters) {
    if (parameter.free) parameter.value *= 100.0;
  }
  begin_shooting_fit({driven_furuta(rig)}, {}, {}, {}, start);
  EXPECT_LT(worst_error(start, truth), kNearTruth);
}

}  // namespace
}  // namespace estimator
