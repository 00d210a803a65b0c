#include "estimator/spook/spook_stepper.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/spook/step_residual.hpp"
#include "tests/support/alloc_counter.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/rollout.hpp"

namespace estimator {
namespace {

const Eigen::VectorXd kNoControl(0);
const Eigen::VectorXd kZeroControl = Eigen::VectorXd::Zero(1);

Mechanism with_joints(Mechanism mechanism, double compliance, double damping_time) {
  for (Joint& joint : mechanism.joints) {
    joint.spook.compliance_linear = joint.spook.compliance_angular = compliance;
    joint.spook.damping_time = damping_time;
  }
  return mechanism;
}

// A joint at rest yields by ε·f, for any damping time. Tests Σ against the right-hand side, the
// unit of λ (an impulse) and the two compliances of a joint.
TEST(SpookStepper, CompliantJointRestsAtComplianceTimesForce) {
  constexpr double g = 9.82, h = 1e-3, kLinear = 1e-4, kAngular = 3e-4;
  for (const double damping_time : {0.002, 0.01}) {
    SCOPED_TRACE(damping_time);
    Mechanism mechanism = make_furuta();
    for (Joint& joint : mechanism.joints) {
      joint.spook.compliance_linear = kLinear;
      joint.spook.compliance_angular = kAngular;
      joint.spook.damping_time = damping_time;
    }
    mechanism.joint_parameter(0, JointParameter::kViscous).value = 0.1;
    mechanism.joint_parameter(1, JointParameter::kViscous).value = 0.05;
    const ModelParameterValues values = unpack_parameters(mechanism);
    State state =
        assemble_state(mechanism, values, Eigen::Vector2d::Zero(), Eigen::Vector2d::Zero());
    SpookStepper stepper(mechanism, h);
    for (int k = 0; k < 20000; ++k) {
      ASSERT_EQ(stepper.step(state, kZeroControl), StepOutcome::kOk);
    }
    EXPECT_LT(state.velocity.norm(), 1e-9);
    const Eigen::VectorXd violation = constraint_violation(mechanism, values, state.poses);
    // Ground − arm at joint 1 carries both weights, arm − pendulum at joint 2 one. The rest point
    // differs from ε f by the tilt of the compliant arm, a relative 1e-3 squared.
    EXPECT_NEAR(violation[5 * 0 + 1], kLinear * (0.238 + 0.428) * g, 1e-8);
    EXPECT_NEAR(violation[5 * 1 + 1], kLinear * 0.428 * g, 1e-8);
    // The weights' moment about joint 1 bends it about the horizontal axis across the arm.
    const double moment = (0.238 * 0.128 + 0.428 * 0.376) * g;
    const double bend = violation.segment<2>(3).norm();
    EXPECT_NEAR(bend, kAngular * moment, 2e-3 * kAngular * moment);
    // The multiplier is the reaction's impulse over the step.
    EXPECT_NEAR(stepper.constraint_impulses()[1][1], -h * 0.428 * g, 1e-9);
  }
}

TEST(SpookStepper, ReportsARigidLoopAsSingularAndKeepsTheState) {
  const Mechanism mechanism = with_joints(
      make_chain({.links = 3, .closing_point = Eigen::Vector3d(0.35, 0.0, 0.0)}), 0.0, 0.01);
  State state = assemble_state(mechanism, unpack_parameters(mechanism),
                               Eigen::Vector4d(0.1, 1.4, 1.5, 0.0), Eigen::Vector4d::Zero());
  const Eigen::Vector3d before = state.poses[1].r;
  SpookStepper stepper(mechanism, 1e-3);
  EXPECT_EQ(stepper.step(state, kNoControl), StepOutcome::kSingular);
  EXPECT_EQ(state.poses[1].r, before);
  const Eigen::MatrixXd angles = rollout(mechanism, state, Eigen::MatrixXd::Zero(3, 0), 1e-3);
  EXPECT_TRUE(angles.row(0).allFinite());
  EXPECT_TRUE(angles.bottomRows(3).array().isNaN().all());
}

TEST(SpookStepper, StepDoesNotAllocate) {
  if (!test_support::AllocCounter::works()) GTEST_SKIP() << "a sanitizer owns malloc";
  for (Mechanism mechanism : {make_furuta(), make_chain({.links = 8})}) {
    for (int j = 0; j < mechanism.joint_count(); ++j) {
      mechanism.joint_parameter(j, JointParameter::kViscous).value = 1e-3;
      mechanism.joint_parameter(j, JointParameter::kCoulombTorque).value = 5e-3;
      mechanism.joint_parameter(j, JointParameter::kLoadFriction).value = 1e-3;
    }
    SpookStepper stepper(mechanism, 1e-3);
    State state = assemble_state(mechanism, unpack_parameters(mechanism),
                                 Eigen::VectorXd::Constant(mechanism.joint_count(), 0.3),
                                 Eigen::VectorXd::Zero(mechanism.joint_count()));
    const test_support::AllocCounter allocations;
    for (int k = 0; k < 200; ++k) {
      ASSERT_EQ(stepper.step(state, kZeroControl), StepOutcome::kOk);
    }
    EXPECT_EQ(allocations.count(), 0) << mechanism.name;
  }
}

// A motor spins the arm over many turns: a wrapped angle would jump by 2π.
TEST(Rollout, IsContinuousOverFullTurnsAndStartsAtTheGivenAngles) {
  Mechanism mechanism = make_furuta();
  mechanism.joint_parameter(0, JointParameter::kMotorGain).value = 1.0;
  mechanism.joint_parameter(0, JointParameter::kViscous).value = 0.02;
  const Eigen::Vector2d start(7.0, 0.1);  // more than one turn
  const Eigen::MatrixXd angles = rollout(mechanism, start, Eigen::Vector2d::Zero(),
                                         Eigen::MatrixXd::Constant(4000, 1, 0.2), 1e-3);
  ASSERT_EQ(angles.rows(), 4001);
  EXPECT_LT((angles.row(0).transpose() - start).norm(), 1e-12);
  EXPECT_GT(angles(4000, 0) - angles(0, 0), 4.0 * std::numbers::pi);
  for (Eigen::Index k = 0; k < 4000; ++k) {
    ASSERT_LT((angles.row(k + 1) - angles.row(k)).cwiseAbs().maxCoeff(), 0.1);
  }
}

TEST(Rollout, IsEqualFromAStateAndFromItsAngles) {
  const Mechanism mechanism = make_furuta();
  const Eigen::Vector2d angles(0.4, -1.0), rates(1.0, 2.0);
  const Eigen::MatrixXd control = Eigen::MatrixXd::Zero(50, 1);
  const State state = assemble_state(mechanism, unpack_parameters(mechanism), angles, rates);
  EXPECT_LT(
      (rollout(mechanism, angles, rates, control, 0.01) - rollout(mechanism, state, control, 0.01))
          .cwiseAbs()
          .maxCoeff(),
      1e-12);
}

}  // namespace
}  // namespace estimator
