#include "estimator/fit/physical/shooting/control_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "estimator/calibrate/calibrate.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace estimator {
namespace {

using namespace test_support;

// Two rods with a motor on the second joint only. Its noise moves both joints, by the textbook
// inertias of a double pendulum. Catches a gain, a period or a column in the wrong place.
TEST(ControlNoise, CorrelatesJointsThroughTheInertias) {
  constexpr double kMass = 0.5, kLength = 0.4, kInertia = 7e-3, kGain = 1.5;
  Mechanism mechanism =
      make_chain({.links = 2, .mass = kMass, .length = kLength, .inertia_swing = kInertia});
  mechanism.joints[1].motor.present = true;
  mechanism.joint_parameter(1, JointParameter::kMotorGain).value = kGain;
  constexpr double kControlNoise = 0.2, kStep = 0.01, kAngle = 0.7;
  const Eigen::Vector2d acceleration(0.3, 0.4);
  ControlNoiseModel noise(mechanism, Eigen::VectorXd::Constant(1, kControlNoise), kStep);
  const Eigen::MatrixXd W =
      compute_acceleration_whitening(noise, acceleration, Eigen::Vector2d(-0.2, kAngle));

  const double about_end = kInertia + 0.25 * kMass * kLength * kLength;
  const double across = 0.5 * kMass * kLength * kLength * std::cos(kAngle);
  Eigen::Matrix2d M;
  M << 2.0 * about_end + kMass * kLength * kLength + 2.0 * across, about_end + across,
      about_end + across, about_end;
  const Eigen::Vector2d moved = M.inverse() * Eigen::Vector2d(0.0, kGain * kControlNoise);
  Eigen::Matrix2d S = kStep * moved * moved.transpose();
  S.diagonal() += acceleration.cwiseAbs2();
  EXPECT_LT((W * S * W.transpose() - Eigen::Matrix2d::Identity()).norm(), 1e-9) << W;
  EXPECT_EQ(W(0, 1), 0.0);
}

// One entry per motor, in the order of the joints. A joint without a motor has none.
TEST(ControlNoise, HasOneEntryPerMotor) {
  Mechanism mechanism = make_chain({.links = 3});
  mechanism.joints[0].motor.present = mechanism.joints[2].motor.present = true;
  EXPECT_EQ(motor_control_noise(mechanism).size(), 0);
  mechanism.joints[2].motor.control_noise = 0.3;
  EXPECT_EQ(motor_control_noise(mechanism), Eigen::Vector2d(0.0, 0.3));
}

TEST(ControlNoise, IsRejectedBelowZeroAndForShadowParameters) {
  Mechanism mechanism = make_chain({.links = 1});
  mechanism.joints[0].motor.present = true;
  mechanism.joints[0].motor.control_noise = 0.1;
  EXPECT_TRUE(find_mechanism_errors(mechanism).empty());
  EXPECT_THROW(require_spook_support(mechanism), std::invalid_argument);
  for (const double bad : {-0.1, std::nan(""), HUGE_VAL}) {
    mechanism.joints[0].motor.control_noise = bad;
    ASSERT_EQ(find_mechanism_errors(mechanism).size(), 1U) << bad;
    EXPECT_EQ(find_mechanism_errors(mechanism)[0].code, MessageCode::kNegativeControlNoise);
  }
}

// If the real control differed from the record, no simulation of the record can follow the motion.
// The joint fit is kept, with uncertainties that include this.
TEST(ControlNoise, ChangesWeightsButNotTheSimulation) {
  const ReferencePendulum rig{.b = 2e-3};
  Recording recording = test_support::swing(rig, "swing", 1.0, 800, 0.01, 1e-4, 5);
  Segment& segment = recording.segments.front();
  segment.controls = Eigen::MatrixXd::Zero(segment.angles.rows(), 1);
  Mechanism mechanism = freed(pendulum_of(rig), {"P.J_zz", "1.b"}, 1.3);
  mechanism.joints[0].motor.present = true;
  mechanism.joint_parameter(0, JointParameter::kMotorGain).value = 1.0;
  const Calibration exact = calibrate(mechanism, {recording});
  EXPECT_TRUE(exact.refined);
  mechanism.joints[0].motor.control_noise = 0.05;
  const Calibration noisy = calibrate(mechanism, {recording});
  EXPECT_TRUE(noisy.converged());
  EXPECT_FALSE(noisy.refined);
  for (std::size_t i = 0; i < noisy.parameters.size(); ++i) {
    EXPECT_GT(noisy.parameters[i].standard_deviation, 3.0 * exact.parameters[i].standard_deviation);
  }
}

}  // namespace
}  // namespace estimator
