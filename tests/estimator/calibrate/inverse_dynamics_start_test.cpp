#include "estimator/fit/physical/inverse_dynamics_start.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "estimator/fit/physical/equation_error.hpp"
#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/inertia/inertia_parameterization.hpp"
#include "estimator/model/moments.hpp"
#include "tests/estimator/dense_problem.hpp"
#include "tests/support/mechanisms/controlled_arm.hpp"
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

/// Returns the root mean square of the difference of the joint torques that two arms need along a
/// recorded motion, relative to the torque, largest joint. Friction is left out.
double torque_difference(const Mechanism& arm, const Mechanism& truth, const ShootingInput& input) {
  TreeInverseDynamics<double> one(arm, parameter_values(arm));
  TreeInverseDynamics<double> other(truth, parameter_values(truth));
  const Eigen::MatrixXd& states = input.states.front();
  const Eigen::Index n = truth.joint_count();
  Eigen::ArrayXd squares = Eigen::ArrayXd::Zero(n), all = squares;
  for (Eigen::Index k = 50; k + 50 < states.cols(); k += 10) {
    const JointVector<double> q = states.col(k).head(n), v = states.col(k).tail(n);
    const JointVector<double> a = (states.col(k + 1) - states.col(k - 1)).tail(n) /
                                  (2.0 * input.state_spacing.front());
    JointVector<double> first, second;
    one.torque_residual(q, v, a, JointVector<double>::Zero(n), first);
    other.torque_residual(q, v, a, JointVector<double>::Zero(n), second);
    squares += (first - second).array().square();
    all += second.array().square();
  }
  return (squares / all).sqrt().maxCoeff();
}

class ControlledArm : public ::testing::TestWithParam<int> {};

// The noise of torques and readings explains 0.3 %. Errors of a few per cent would show in the
// verdict of the fit that starts there.
TEST_P(ControlledArm, StartsNearTheTruthFromAnyGivenInertia) {
  const Mechanism truth = test_support::make_arm(GetParam());
  const Recording recording = test_support::record_arm(truth, {});
  for (const double factor : {1e-3, 1.3, 1e3}) {
    SCOPED_TRACE(factor);
    const Mechanism given = test_support::free_arm(truth, factor);
    const ShootingInput input = prepare_shooting_data(given, {recording}, {});
    const std::optional<Mechanism> start = estimate_by_inverse_dynamics(given, input, {});
    ASSERT_TRUE(start);
    EXPECT_LT(torque_difference(*start, truth, input), 0.02);
    for (int body = 0; body < truth.body_count(); ++body) {
      EXPECT_TRUE(is_physically_consistent(inertia_matrix(moments_of_inertia(*start, body))));
    }
    for (int j = 0; j < truth.joint_count(); ++j) {
      for (const JointParameter quantity :
           {JointParameter::kViscous, JointParameter::kCoulombTorque}) {
        const double value = truth.joint_parameter(j, quantity).value;
        EXPECT_NEAR(start->joint_parameter(j, quantity).value, value, 0.1 * value)
            << start->joint_parameter(j, quantity).name;
      }
    }
  }
}

// Gain and rotor inertia of the motors are estimated with known masses and centres of mass.
TEST_P(ControlledArm, FindsMotorGainAndRotorInertia) {
  Mechanism truth = test_support::make_arm(GetParam());
  Mechanism given = truth;
  for (int j = 0; j < truth.joint_count(); ++j) {
    truth.joint_parameter(j, JointParameter::kMotorGain).value = 2.0;
    truth.joint_parameter(j, JointParameter::kShaftInertia).value = 0.1;
    for (const JointParameter quantity :
         {JointParameter::kMotorGain, JointParameter::kShaftInertia}) {
      given.joint_parameter(j, quantity).free = true;
      given.joint_parameter(j, quantity).value = 0.01;
    }
  }
  const Recording recording = test_support::record_arm(truth, {.slowest = 0.5});
  const ShootingInput input = prepare_shooting_data(given, {recording}, {});
  const std::optional<Mechanism> start = estimate_by_inverse_dynamics(given, input, {});
  ASSERT_TRUE(start);
  EXPECT_LT(worst_error(*start, truth), 0.05);
}

INSTANTIATE_TEST_SUITE_P(Arms, ControlledArm, ::testing::Values(2, 3));

// If the integrals are affine, they are linearized once. Catches a coordinate in which torques are
// not linear: the residuals of a problem that starts elsewhere differ.
TEST(EquationErrorProblem, IsAffineInInertiasAndFriction) {
  const Mechanism truth = test_support::make_arm(2);
  const Recording recording = test_support::record_arm(truth, {.duration = 2.0});
  Mechanism given = test_support::free_arm(truth, 1.3);
  const ShootingInput input = prepare_shooting_data(given, {recording}, {});
  const ModulatedMotion motion = place_test_functions(given, input, 10.0);
  EquationErrorProblem problem(given, motion);
  EXPECT_TRUE(problem.is_affine());
  test_support::expect_derivatives(EquationErrorProblem(given, motion));
  given.joint_parameter(1, JointParameter::kEncoderOffset).free = true;
  EXPECT_FALSE(EquationErrorProblem(given, motion).is_affine());
}

// Closed forms of ∫φ² and ∫φ̈² of a cubic B-spline with the integral 1 and the knot distance T:
// 151/(315 T) and 8/(3 T⁵). Differences on the grid have an error of about (grid/T)². All functions
// together are constant, so the covariances of one with all others cancel, except for the ends.
TEST(ModulatedMotion, IntegratesAccelerationsByParts) {
  const ReferenceFuruta rig = test_support::viscous_furuta();
  const Mechanism mechanism = test_support::free_furuta(rig, 1.0);
  ShootingInput input = prepare_shooting_data(mechanism, {driven_furuta(rig)}, {});
  Eigen::MatrixXd& states = input.states.front();
  const auto cube = [&](Eigen::Index k) { return std::pow(static_cast<double>(k) * kEvery, 3); };
  for (Eigen::Index k = 0; k < states.cols(); ++k) {
    const double time = static_cast<double>(k) * kEvery;
    states.col(k) << cube(k), cube(k), 3.0 * time * time, 3.0 * time * time;
  }
  const ModulatedMotion motion = place_test_functions(mechanism, input, 10.0);
  const ModulatedMotion::FunctionShape& shape = motion.shapes.front();
  const double knot = 0.25 * shape.spacing * static_cast<double>(shape.values.size() + 1);
  ASSERT_GT(motion.function_count(), 100);
  for (const ModulatedMotion::TestFunction& function : motion.functions) {
    const double integral =
        shape.spacing * shape.values.dot(motion.acceleration.row(0).segment(
                                             function.first_instant, shape.values.size()));
    const double centre = (function.position + 2) * knot;
    EXPECT_NEAR(integral, 6.0 * centre, 1e-9);
  }
  const double coarse = std::pow(shape.spacing / knot, 2);
  EXPECT_NEAR(shape.torque[0] * 315.0 * knot / 151.0, 1.0, coarse);
  EXPECT_NEAR(shape.inertia[0] / kEvery * 3.0 * std::pow(knot, 5) / 8.0, 1.0, 2.0 * coarse);
  EXPECT_NEAR(shape.inertia.sum() * 2.0 - shape.inertia[0], 0.0, 1e-4 * shape.inertia[0]);
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
  const ModulatedMotion motion = place_test_functions(given, input, 10.0);
  test_support::expect_derivatives(EquationErrorProblem(given, motion));
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
