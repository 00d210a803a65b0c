// The potential used to find equilibria, compared with the torques of the equations of motion.
#include "estimator/simulation/statics/equilibrium.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/estimator/dynamics/loop_rigs.hpp"

namespace estimator {
namespace {

constexpr double kMoved = 1e-5;    // [rad or m], of central differences of V
constexpr double kRounded = 1e-8;  // [N·m or N]: V of about 1 J has round-off 1e-16

const Eigen::Vector3d kX = Eigen::Vector3d::UnitX(), kZ = Eigen::Vector3d::UnitZ();

/// Masses, a spring and a constant torque at every joint, and tilted ground.
void load_joints(Mechanism& mechanism) {
  mechanism.parameter(GravityParameter::kGravity).value = 9.81;
  mechanism.parameter(GravityParameter::kTiltZ).value = 0.1;
  for (int i = 0; i < mechanism.body_count(); ++i) {
    mechanism.parameter(i, BodyParameter::kMass).value = 0.2 + 0.1 * i;
  }
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    mechanism.joint_parameter(j, JointParameter::kStiffness).value = 0.5 + 0.2 * j;
    mechanism.joint_parameter(j, JointParameter::kRestAngle).value = 0.3 - 0.4 * j;
    mechanism.joint_parameter(j, JointParameter::kConstantTorque).value = 0.05 - 0.12 * j;
  }
}

/// Bodies in series, whose centres of mass are beyond the joints.
Mechanism in_series(const std::vector<Joint>& joints) {
  Mechanism mechanism;
  mechanism.joints = joints;
  for (const Joint& each : joints) mechanism.bodies.push_back({"of " + each.name});
  make_parameters(mechanism);
  load_joints(mechanism);
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    mechanism.joint_parameter(j, JointParameter::kPointBx).value = -0.1 - 0.02 * j;
  }
  return mechanism;
}

/// Torques on the joints at rest: minus the imbalance of the equations of motion there.
Eigen::VectorXd torques_at_rest(const Mechanism& mechanism, const Eigen::VectorXd& coordinates) {
  TreeInverseDynamics<double> dynamics(mechanism, parameter_values(mechanism));
  const JointVector<double> zero = JointVector<double>::Zero(coordinates.size());
  JointVector<double> imbalance;
  dynamics.torque_residual(coordinates, zero, zero, zero, imbalance);
  return -Eigen::VectorXd(imbalance);
}

void expect_slopes(const Mechanism& mechanism, const Eigen::VectorXd& coordinates) {
  const StaticPotential statics(mechanism);
  const Eigen::VectorXd torques = torques_at_rest(mechanism, coordinates);
  for (Eigen::Index j = 0; j < coordinates.size(); ++j) {
    const Eigen::VectorXd step = kMoved * Eigen::VectorXd::Unit(coordinates.size(), j);
    const double slope = (statics.potential_energy(coordinates + step) -
                          statics.potential_energy(coordinates - step)) /
                         (2.0 * kMoved);
    EXPECT_NEAR(-slope, torques[j], kRounded) << "joint " << j;
    EXPECT_GT(std::abs(torques[j]), 1e-3) << "says nothing";
  }
}

// Two revolute joints, one of them beyond a full turn, which springs ignore.
TEST(StaticPotential, NegativeGradientIsTheJointTorque) {
  const Mechanism mechanism =
      in_series({joint("1", Joint::kGround, 0, kZ, kX), joint("2", 0, 1, kZ, kX)});
  expect_slopes(mechanism, Eigen::Vector2d(0.7, -1.1));
  expect_slopes(mechanism, Eigen::Vector2d(-4.0, 9.0));
  expect_slopes(mechanism, Eigen::Vector2d(-2.95, 3.1));  // half a turn from zero, from rest
}

// A pole on a cart on a slope. The prismatic joint is further out than half a turn would be.
TEST(StaticPotential, NegativeGradientIsTheForceOfASlidingJoint) {
  Joint rail = joint("rail", Joint::kGround, 0, {std::cos(0.4), std::sin(0.4), 0.0}, kZ);
  rail.kind = JointKind::kPrismatic;
  const Mechanism mechanism = in_series({rail, joint("pole", 0, 1, kZ, kX)});
  expect_slopes(mechanism, Eigen::Vector2d(0.3, 2.0));
  expect_slopes(mechanism, Eigen::Vector2d(-4.0, 0.5));
}

// Four-bar linkage, along its single degree of freedom: every joint contributes.
TEST(StaticPotential, DerivativeAlongALoopIsTheProjectedGradient) {
  Mechanism mechanism = moving_four_bar();
  load_joints(mechanism);
  StaticPotential statics(mechanism);
  Eigen::VectorXd coordinates(4);
  coordinates << 1.0, -1.0, 1.5, 1.5;
  for (const double crank : {1.0, 1.2, 0.7}) {
    Eigen::VectorXd wanted = Eigen::VectorXd::Constant(4, std::nan(""));
    wanted[0] = crank;
    ASSERT_TRUE(statics.close(coordinates, wanted)) << crank;
    const StaticPotential::EnergyDerivatives local = statics.at(coordinates);
    ASSERT_EQ(local.gradient.size(), 1);
    EXPECT_NEAR(local.gradient[0],
                -local.motions.col(0).dot(torques_at_rest(mechanism, coordinates)), 1e-12);
    Eigen::VectorXd up = coordinates, down = coordinates;
    ASSERT_TRUE(statics.move(up, Eigen::VectorXd::Constant(1, kMoved)));
    ASSERT_TRUE(statics.move(down, Eigen::VectorXd::Constant(1, -kMoved)));
    const double slope =
        (statics.potential_energy(up) - statics.potential_energy(down)) / (2.0 * kMoved);
    EXPECT_NEAR(slope, local.gradient[0], kRounded) << crank;
    EXPECT_GT(std::abs(slope), 1e-3) << "says nothing";
  }
}

}  // namespace
}  // namespace estimator
