#include "estimator/calibrate/control_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "estimator/model/mechanisms/chain.hpp"

namespace {

using estimator::HingeQuantity;

// Two rods with a motor on the second joint alone: its noise moves both joints, by the textbook's
// inertias of a double pendulum. A gain, a period or a column in the wrong place shows.
TEST(ControlNoise, GoesFromJointToJointByTheInertias) {
  constexpr double kMass = 0.5, kLength = 0.4, kInertia = 7e-3, kGain = 1.5;
  estimator::Mechanism mechanism = estimator::make_chain(
      {.links = 2, .mass = kMass, .length = kLength, .inertia_swing = kInertia});
  mechanism.hinges[1].motorised = true;
  mechanism.hinge_parameter(1, HingeQuantity::kMotorGain).value = kGain;
  constexpr double kNoise = 0.2, kPeriod = 0.01, kAngle = 0.7;
  const Eigen::Vector2d acceleration(0.3, 0.4);
  const Eigen::MatrixXd W = estimator::acceleration_whitening(
      mechanism, acceleration, Eigen::VectorXd::Constant(1, kNoise), kPeriod,
      Eigen::Vector2d(-0.2, kAngle));

  const double about_end = kInertia + 0.25 * kMass * kLength * kLength;
  const double across = 0.5 * kMass * kLength * kLength * std::cos(kAngle);
  Eigen::Matrix2d M;
  M << 2.0 * about_end + kMass * kLength * kLength + 2.0 * across, about_end + across,
      about_end + across, about_end;
  const Eigen::Vector2d moved = M.inverse() * Eigen::Vector2d(0.0, kGain * kNoise);
  Eigen::Matrix2d S = kPeriod * moved * moved.transpose();
  S.diagonal() += acceleration.cwiseAbs2();
  EXPECT_LT((W * S * W.transpose() - Eigen::Matrix2d::Identity()).norm(), 1e-9) << W;
  EXPECT_EQ(W(0, 1), 0.0);
}

}  // namespace
