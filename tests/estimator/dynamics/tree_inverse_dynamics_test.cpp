#include "estimator/dynamics/tree_inverse_dynamics.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <vector>

#include "estimator/model/joint_friction.hpp"
#include "estimator/spook/joint_terms.hpp"
#include "tests/estimator/dynamics/mechanism_edits.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

constexpr double kMass = 0.428, kArm = 0.092, kInertia = 0.0039, kGravity = 9.82;

JointVector<double> one(double value) { return JointVector<double>::Constant(1, value); }

Mechanism pendulum() {
  Mechanism mechanism = make_pendulum({.mass = kMass, .distance = kArm, .inertia_swing = kInertia});
  mechanism.parameter(GravityParameter::kGravity).value = kGravity;
  return mechanism;
}

// The pendulum with its centre of mass shifted by c along the axis: the joint then carries moments
// across the axis.
Mechanism overhung(double c) {
  Mechanism mechanism = pendulum();
  set_joint_points(mechanism, 0, Eigen::Vector3d::Zero(), Eigen::Vector3d(-kArm, 0.0, -c));
  return mechanism;
}

double imbalance_of(const Mechanism& mechanism, double angle, double rate, double acceleration,
                    double control = 0.0) {
  TreeInverseDynamics<double> dynamics(mechanism, parameter_values(mechanism));
  JointVector<double> torque_residual;
  dynamics.torque_residual(one(angle), one(rate), one(acceleration), one(control), torque_residual);
  return torque_residual[0];
}

double bound_of(const Mechanism& mechanism, double angle, double rate, double acceleration) {
  TreeInverseDynamics<double> dynamics(mechanism, parameter_values(mechanism));
  JointVector<double> torque_residual;
  dynamics.torque_residual(one(angle), one(rate), one(acceleration), one(0.0), torque_residual);
  return dynamics.dry_friction_bound(0, rate);
}

// Each torque about the axis alone, at speeds of either sign: b ω, c |ω| ω, k (θ − θ_rest) with
// that difference modulo full turns (a rest angle of 2 or −2 rad makes it cross half a turn), −τ_0,
// −K (u − k_e ω), J_shaft θ̈.
TEST(TreeInverseDynamics, IncludesEveryTorqueAboutTheAxis) {
  constexpr double angle = 0.4, acceleration = -2.0, control = 1.5;
  const auto added = [&](const std::vector<std::pair<JointParameter, double>>& quantities,
                         double at, double rate) {
    Mechanism mechanism = pendulum();
    for (const auto& [quantity, value] : quantities) {
      mechanism.joint_parameter(0, quantity).value = value;
    }
    return imbalance_of(mechanism, at, rate, acceleration, control) -
           imbalance_of(pendulum(), at, rate, acceleration, control);
  };
  for (const double rate : {-3.0, 3.0}) {
    EXPECT_NEAR(added({{JointParameter::kViscous, 0.01}}, angle, rate), 0.01 * rate, 1e-12);
    EXPECT_NEAR(added({{JointParameter::kQuadraticDrag, 0.01}}, angle, rate),
                0.01 * std::abs(rate) * rate, 1e-12);
    EXPECT_NEAR(added({{JointParameter::kConstantTorque, 0.2}}, angle, rate), -0.2, 1e-12);
    EXPECT_NEAR(added({{JointParameter::kShaftInertia, 0.1}}, angle, rate), 0.1 * acceleration,
                1e-12);
    EXPECT_NEAR(
        added({{JointParameter::kMotorGain, 0.1}, {JointParameter::kBackEmf, 0.05}}, angle, rate),
        -0.1 * (control - 0.05 * rate), 1e-12);
    for (const double turns : {-2.0, 0.0, 1.0}) {
      EXPECT_NEAR(added({{JointParameter::kStiffness, 0.3}, {JointParameter::kRestAngle, 0.1}},
                        angle + 2.0 * M_PI * turns, rate),
                  0.3 * (angle - 0.1), 1e-12);
      for (const double side : {-1.0, 1.0}) {
        EXPECT_NEAR(
            added({{JointParameter::kStiffness, 0.3}, {JointParameter::kRestAngle, side * 2.0}},
                  side * 3.5 + 2.0 * M_PI * turns, rate),
            side * 0.3 * 1.5, 1e-12);
      }
    }
  }
}

// The same spring in a SPOOK simulator, whose angles are within half a turn of zero.
TEST(TreeInverseDynamics, SimulatorSpringsIgnoreFullTurnsToo) {
  JointParameterValues values{};
  values.stiffness = 0.3;
  for (const double side : {-1.0, 1.0}) {
    values.rest_angle = side * 2.0;
    EXPECT_NEAR(axis_impulse(values, 0.0, side * (3.5 - 2.0 * M_PI), 0.0, 1e-3),
                -side * 1e-3 * 0.3 * 1.5, 1e-15);
  }
}

// γ₁ (tanh γ₂ω − tanh γ₃ω) + γ₄ tanh γ₅ω by the standard library, with γ₂ = rise + decay. With no
// coefficient below zero the motion loses power at every speed.
TEST(TreeInverseDynamics, IncludesSmoothFriction) {
  constexpr double kExcess = 0.8, kRise = 12.0, kDecay = 3.0, kCoulomb = 0.3, kSlope = 40.0;
  Mechanism mechanism = pendulum();
  for (const auto& [quantity, value] : {std::pair{Makkar::kExcess, kExcess},
                                        {Makkar::kRise, kRise},
                                        {Makkar::kDecay, kDecay},
                                        {Makkar::kCoulomb, kCoulomb},
                                        {Makkar::kSlope, kSlope}}) {
    mechanism.joint_parameter(0, friction_law_parameter<Makkar>(quantity)).value = value;
  }
  const auto friction = [&](double rate) {
    return imbalance_of(mechanism, 0.0, rate, 0.0) - imbalance_of(pendulum(), 0.0, rate, 0.0);
  };
  for (const double rate : {-20.0, -0.4, -0.01, 0.0, 0.02, 0.3, 5.0}) {
    const double expected =
        kExcess * (std::tanh((kRise + kDecay) * rate) - std::tanh(kDecay * rate)) +
        kCoulomb * std::tanh(kSlope * rate);
    EXPECT_NEAR(friction(rate), expected, 1e-13) << rate;
    EXPECT_GE(expected * rate, 0.0);
  }
  const double h = 1e-7;
  TreeInverseDynamics<double> dynamics(mechanism, parameter_values(mechanism));
  EXPECT_NEAR((friction(h) - friction(-h)) / (2 * h), dynamics.friction_slope_at_rest(0), 1e-5);
  EXPECT_EQ(dynamics.dry_friction_bound(0, 1.0), 0.0);
}

// τ_c + τ_δ exp(−ζ ω²), the same in both directions.
TEST(TreeInverseDynamics, BoundsDryFrictionByStribecksLaw) {
  Mechanism mechanism = pendulum();
  mechanism.joint_parameter(0, JointParameter::kCoulombTorque).value = 0.006;
  mechanism.joint_parameter(0, JointParameter::kStribeckTorque).value = 0.002;
  mechanism.joint_parameter(0, JointParameter::kStribeckRate).value = 4.0;
  for (const double rate : {-0.5, 0.0, 0.5}) {
    EXPECT_NEAR(bound_of(mechanism, 0.3, rate, 0.0), 0.006 + 0.002 * std::exp(-4.0 * rate * rate),
                1e-15);
  }
}

// Error that the smoothing of the load at zero causes at any other load.
constexpr double kSmoothedForce = 1.01e-4, kSmoothedMoment = 1.01e-5;

// rμ times the magnitude of the force across the axis: the weight, and the swing's forces along and
// across the arm. The frame's rotation about the axis must not matter.
TEST(TreeInverseDynamics, BearingLoadIsTheMagnitudeOfTheForce) {
  for (const double turn : {0.0, 0.25 * M_PI}) {
    Mechanism mechanism = pendulum();
    mechanism.joint_parameter(0, JointParameter::kLoadFriction).value = 1e-3;
    const Eigen::Matrix3d about_axis =
        Eigen::AngleAxisd(turn, Eigen::Vector3d::UnitX()).toRotationMatrix();
    mechanism.joints[0].frame_a *= about_axis;
    mechanism.joints[0].frame_b *= about_axis;
    for (const double angle : {-2.5, -0.8, 0.3, 2.0}) {
      const double along = kMass * (kGravity * std::cos(angle) + kArm * 9.0);
      const double across = kMass * (kGravity * std::sin(angle) + kArm * 5.0);
      EXPECT_NEAR(bound_of(mechanism, angle, 3.0, 5.0), 1e-3 * std::hypot(along, across),
                  1e-3 * kSmoothedForce);
    }
  }
}

// μ times the magnitude of the moment across the axis: a centre of mass that overhangs by c turns
// each force into a moment c times as large about the other direction.
TEST(TreeInverseDynamics, BearingLoadIncludesTheMomentAcrossTheAxis) {
  constexpr double kOverhang = 0.05;
  Mechanism mechanism = overhung(kOverhang);
  mechanism.joint_parameter(0, JointParameter::kLoadFrictionAngular).value = 0.02;
  for (const double angle : {-2.5, -0.8, 0.3, 2.0}) {
    const double along = kMass * kGravity * std::cos(angle);
    const double across = kMass * kGravity * std::sin(angle);
    EXPECT_NEAR(bound_of(mechanism, angle, 0.0, 0.0), 0.02 * kOverhang * std::hypot(along, across),
                0.02 * kSmoothedMoment);
  }
  EXPECT_NEAR(bound_of(overhung(0.0), 0.3, 0.0, 0.0), 0.0, 1e-15);
}

// A joint carries all that hangs from it: the first of two links both weights, the second its own.
TEST(TreeInverseDynamics, PropagatesForcesToTheParent) {
  Mechanism mechanism = make_chain({.links = 2, .mass = 0.2});
  mechanism.parameter(GravityParameter::kGravity).value = kGravity;
  for (int j = 0; j < 2; ++j) {
    mechanism.joint_parameter(j, JointParameter::kLoadFriction).value = 1e-3;
  }
  TreeInverseDynamics<double> dynamics(mechanism, parameter_values(mechanism));
  const JointVector<double> zero = JointVector<double>::Zero(2);
  JointVector<double> torque_residual;
  dynamics.torque_residual(zero, zero, zero, zero, torque_residual);
  EXPECT_NEAR(dynamics.dry_friction_bound(0, 0.0), 1e-3 * 0.4 * kGravity, 1e-3 * kSmoothedForce);
  EXPECT_NEAR(dynamics.dry_friction_bound(1, 0.0), 1e-3 * 0.2 * kGravity, 1e-3 * kSmoothedForce);
}

}  // namespace
}  // namespace estimator
