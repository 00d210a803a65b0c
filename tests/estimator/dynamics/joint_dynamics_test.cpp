#include "estimator/simulation/interval/joint_dynamics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "tests/estimator/dynamics/loop_rigs.hpp"
#include "tests/estimator/dynamics/mechanism_edits.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A rig with a point at which no joint is at rest.
struct MovingRig {
  Mechanism mechanism;
  VectorXd coordinates, rates;
};

MovingRig driven_furuta() {
  Mechanism mechanism = make_furuta();
  mechanism.joints[0].motor.present = true;
  mechanism.joint_parameter(0, JointParameter::kMotorGain).value = 0.03;
  mechanism.joint_parameter(0, JointParameter::kBackEmf).value = 0.2;
  add_friction(mechanism, 2e-3, 1e-2);
  return {mechanism, Eigen::Vector2d(0.3, 2.1), Eigen::Vector2d(1.5, -2.0)};
}

MovingRig driven_cart() {
  Mechanism mechanism = test_support::cart_with_plate();
  mechanism.joints[0].motor.present = true;
  mechanism.joint_parameter(0, JointParameter::kMotorGain).value = 2.0;
  mechanism.joint_parameter(1, JointParameter::kLoadFriction).value = 0.01;
  add_friction(mechanism, 0.1, 0.2);
  return {mechanism, Eigen::Vector2d(0.1, -0.6), Eigen::Vector2d(-0.4, 1.1)};
}

MovingRig moving_five_bar() {
  MovingRig rig{five_bar(), VectorXd(5), VectorXd(5)};
  LoopClosure closure(rig.mechanism);
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  VectorXd wanted(5);
  wanted << 2.1, unknown, 1.0, unknown, unknown;
  rig.coordinates << 2.1, -1.2, 1.0, 1.2, 2.0;
  EXPECT_TRUE(closure.close(rig.coordinates, wanted));
  wanted << 1.7, unknown, -1.2, unknown, unknown;
  rig.rates = closure.rates(rig.coordinates, wanted);
  return rig;
}

OperatingPoint point_of(const MovingRig& rig) {
  return {
      rig.coordinates, rig.rates,
      VectorXd::Constant(static_cast<Eigen::Index>(joints_with_motor(rig.mechanism).size()), 0.7)};
}

/// Returns the operating point with one element of the state, or of the controls, moved.
OperatingPoint point_beside(const MovingRig& rig, const std::vector<int>& joints,
                            Eigen::Index direction, double by) {
  OperatingPoint point = point_of(rig);
  const auto c = static_cast<Eigen::Index>(joints.size());
  VectorXd state(2 * c);
  state << point.coordinates(joints), point.rates(joints);
  (direction < 2 * c ? state[direction] : point.controls[direction - 2 * c]) += by;
  LoopClosure closure(rig.mechanism);
  if (!closure.has_loops()) {
    point.coordinates(joints) = state.head(c);
    point.rates(joints) = state.tail(c);
    return point;
  }
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  VectorXd known = VectorXd::Constant(point.coordinates.size(), unknown), rates = known;
  known(joints) = state.head(c);
  rates(joints) = state.tail(c);
  EXPECT_TRUE(closure.close(point.coordinates, known));
  point.rates = closure.rates(point.coordinates, rates);
  return point;
}

VectorXd state_derivative(JointDynamics& dynamics, const OperatingPoint& point,
                          const std::vector<int>& joints) {
  const VectorXd accelerations = dynamics.accelerations(point);
  const auto c = static_cast<Eigen::Index>(joints.size());
  VectorXd derivative(2 * c);
  derivative << point.rates(joints), accelerations(joints);
  return derivative;
}

class JointDynamicsRigs : public ::testing::TestWithParam<MovingRig (*)()> {};

// Central differences over 2e-5 have an error of about 1e-10 of the third derivatives, and the
// same from round-off.
TEST_P(JointDynamicsRigs, DerivativesEqualDifferencesOfAccelerations) {
  const MovingRig rig = GetParam()();
  JointDynamics dynamics(rig.mechanism);
  const LinearModel model = dynamics.linearize(point_of(rig));
  EXPECT_TRUE(model.frictionless.empty());
  EXPECT_LT((model.f - state_derivative(dynamics, point_of(rig), model.joints)).norm(),
            1e-9 * model.f.norm());
  MatrixXd derivatives(model.A.rows(), model.A.cols() + model.B.cols());
  derivatives << model.A, model.B;
  constexpr double kDifferenceStep = 1e-5;
  for (Eigen::Index d = 0; d < derivatives.cols(); ++d) {
    SCOPED_TRACE(d);
    const VectorXd difference =
        (state_derivative(dynamics, point_beside(rig, model.joints, d, kDifferenceStep),
                          model.joints) -
         state_derivative(dynamics, point_beside(rig, model.joints, d, -kDifferenceStep),
                          model.joints)) /
        (2.0 * kDifferenceStep);
    EXPECT_LT((derivatives.col(d) - difference).norm(), 1e-6 * (1.0 + derivatives.norm()));
  }
}

// For a short period T the discrete model is I + A T + A² T²/2, and B T + A B T²/2, up to O(T³).
TEST_P(JointDynamicsRigs, DiscreteModelIsTheExponentialOfTheContinuousOne) {
  const MovingRig rig = GetParam()();
  JointDynamics dynamics(rig.mechanism);
  constexpr double kSamplingPeriod = 1e-5;
  const LinearModel continuous = dynamics.linearize(point_of(rig));
  const LinearModel discrete = dynamics.linearize(point_of(rig), kSamplingPeriod);
  const auto size = continuous.A.rows();
  const MatrixXd growth = (discrete.A - MatrixXd::Identity(size, size)) / kSamplingPeriod;
  EXPECT_LT((growth - continuous.A).norm(), 0.01 * continuous.A.norm());
  EXPECT_LT((discrete.B / kSamplingPeriod - continuous.B).norm(), 0.01 * continuous.B.norm());
}

INSTANTIATE_TEST_SUITE_P(Rigs, JointDynamicsRigs,
                         ::testing::Values(&driven_furuta, &driven_cart, &moving_five_bar));

// A pendulum with Coulomb friction just above, and just below, its gravity torque.
TEST(JointDynamics, FrictionHoldsJointAtRestUpToItsBound) {
  MovingRig rig = driven_furuta();
  rig.rates.setZero();
  OperatingPoint point = point_of(rig);
  point.controls.setZero();
  add_friction(rig.mechanism, 0.0, 0.0);
  rig.mechanism.joint_parameter(0, JointParameter::kCoulombTorque).value = 10.0;
  const double torque = std::abs(rig.mechanism.parameter(1, BodyParameter::kMass).value * 9.82 *
                                 0.092 * std::sin(2.1));
  for (const double share : {1.01, 0.99}) {
    rig.mechanism.joint_parameter(1, JointParameter::kCoulombTorque).value = share * torque;
    JointDynamics dynamics(rig.mechanism);
    const double acceleration = dynamics.accelerations(point)[1];
    if (share > 1.0) {
      EXPECT_EQ(acceleration, 0.0);
    } else {
      EXPECT_GT(std::abs(acceleration), 0.0);
    }
    EXPECT_EQ(dynamics.linearize(point).frictionless, (std::vector<int>{0, 1}));
  }
}

TEST(JointDynamics, LinearModelLeavesOutFrictionAtRest) {
  MovingRig rig = driven_furuta();
  rig.rates.setZero();
  const LinearModel with = JointDynamics(rig.mechanism).linearize(point_of(rig));
  add_friction(rig.mechanism, 2e-3, 0.0);
  const LinearModel without = JointDynamics(rig.mechanism).linearize(point_of(rig));
  EXPECT_TRUE(with.A.isApprox(without.A, 1e-12));
  EXPECT_TRUE(with.B.isApprox(without.B, 1e-12));
  EXPECT_TRUE(without.frictionless.empty());
}

// Kinetic energy ½ vᵀ M v, of the joint rates in the tree and of the coordinates in the loop.
TEST(JointDynamics, MassMatrixOfLoopContainsFollowingJoints) {
  const MovingRig rig = moving_five_bar();
  JointDynamics dynamics(rig.mechanism);
  const MatrixXd mass = dynamics.mass_matrix(rig.coordinates);
  const VectorXd rates = rig.rates(dynamics.independent_joints(rig.coordinates));
  TreeInverseDynamics<double> tree(rig.mechanism, parameter_values(rig.mechanism));
  const double energy = rig.rates.dot(mass_matrix(tree, rig.coordinates) * rig.rates);
  EXPECT_NEAR(rates.dot(mass * rates), energy, 1e-9 * energy);
}

TEST(JointDynamics, RefusesOpenLoopsAndContradictingRates) {
  const MovingRig rig = moving_five_bar();
  JointDynamics dynamics(rig.mechanism);
  OperatingPoint open = point_of(rig);
  open.coordinates[1] += 1e-3;
  EXPECT_THROW(dynamics.accelerations(open), std::invalid_argument);
  open.coordinates[1] -= 1e-3 - 1e-8;
  EXPECT_NO_THROW(dynamics.accelerations(open));
  OperatingPoint torn = point_of(rig);
  torn.rates[1] += 1e-3;
  EXPECT_THROW(dynamics.accelerations(torn), std::invalid_argument);
}

TEST(JointDynamics, RefusesPositionBeyondEndStop) {
  MovingRig rig = driven_furuta();
  rig.mechanism.joints[1].stops.upper = true;
  rig.mechanism.joint_parameter(1, JointParameter::kStopUpper).value = 2.0;
  JointDynamics dynamics(rig.mechanism);
  EXPECT_THROW(dynamics.accelerations(point_of(rig)), std::invalid_argument);
  rig.coordinates[1] = 1.99;
  EXPECT_NO_THROW(dynamics.accelerations(point_of(rig)));
}

}  // namespace
}  // namespace estimator
