// A robot that hops on one leg in a plane, estimated from data of equations of motion written by
// hand, with a reaction of the ground in phases that are given.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <iostream>
#include <map>
#include <random>
#include <stdexcept>
#include <string>

#include "estimator/calibrate/calibrate.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/refusal.hpp"

namespace estimator {
namespace {

using Eigen::Vector2d;
using Eigen::Vector4d;

/// A trunk on a leg that turns about the hip. Coordinates: hip position x and y [m], angle of the
/// trunk, angle of the leg relative to the trunk [rad].
struct Hopper {
  double trunk_mass = 3.0, trunk_inertia = 0.04, trunk_height = 0.1;  // centre above the hip
  double leg_mass = 0.8, leg_inertia = 0.012, leg_depth = 0.15, length = 0.4;  // centre below it
  double gain = 2.0, viscous = 0.1;

  Vector2d foot(const Vector4d& q) const {
    const double leg = q[2] + q[3];
    return Vector2d(q[0], q[1]) + length * Vector2d(std::sin(leg), -std::cos(leg));
  }
  Eigen::Matrix<double, 2, 4> foot_jacobian(const Vector4d& q) const {
    return point_jacobian(length * Vector2d(std::cos(q[2] + q[3]), std::sin(q[2] + q[3])), 1.0);
  }
  Eigen::Matrix4d mass(const Vector4d& q) const {
    const auto trunk = trunk_jacobian(q), leg = leg_jacobian(q);
    Eigen::Matrix4d M = trunk_mass * trunk.transpose() * trunk + leg_mass * leg.transpose() * leg;
    M(2, 2) += trunk_inertia;
    M.bottomRightCorner<2, 2>().array() += leg_inertia;
    return M;
  }
  Vector4d acceleration(const Vector4d& q, const Vector4d& v, double control, bool stands) const {
    const double leg = q[2] + q[3], turning = v[2] + v[3];
    const Vector2d up(0.0, 9.82);
    const Vector2d trunk_drift =
        trunk_height * v[2] * v[2] * Vector2d(std::sin(q[2]), -std::cos(q[2]));
    const Vector2d inward = turning * turning * Vector2d(-std::sin(leg), std::cos(leg));
    Vector4d force = -trunk_mass * trunk_jacobian(q).transpose() * (trunk_drift + up) -
                     leg_mass * leg_jacobian(q).transpose() * (leg_depth * inward + up);
    force[3] += gain * control - viscous * v[3];
    if (!stands) return mass(q).ldlt().solve(force);
    Eigen::Matrix<double, 6, 6> A = Eigen::Matrix<double, 6, 6>::Zero();
    A.topLeftCorner<4, 4>() = mass(q);
    A.topRightCorner<4, 2>() = foot_jacobian(q).transpose();
    A.bottomLeftCorner<2, 4>() = foot_jacobian(q);
    Eigen::Vector<double, 6> right;
    right << force, -length * inward;
    return A.partialPivLu().solve(right).head<4>();
  }
  /// Returns the rates after the foot has stopped by an impulse.
  Vector4d stopped_foot(const Vector4d& q, const Vector4d& v) const {
    const auto G = foot_jacobian(q);
    const Eigen::Matrix<double, 4, 2> across = mass(q).ldlt().solve(G.transpose());
    return v - across * (G * across).ldlt().solve(G * v);
  }

  Mechanism mechanism() const {
    Mechanism mechanism;
    mechanism.bodies = {{"carriage", true}, {"lift", true}, {"trunk"}, {"leg"}};
    Eigen::Matrix3d along_y, about_z;  // joint axes x, y, z in a body, as columns
    along_y << 0, 0, 1, 1, 0, 0, 0, 1, 0;
    about_z << 0, 1, 0, 0, 0, 1, 1, 0, 0;
    mechanism.joints = {{.name = "x", .kind = JointKind::kPrismatic, .body_b = 0},
                        {.name = "y", .kind = JointKind::kPrismatic, .body_a = 0, .body_b = 1},
                        {.name = "pitch", .body_a = 1, .body_b = 2},
                        {.name = "hip", .body_a = 2, .body_b = 3}};
    for (const auto& [joint, frame] : {std::pair{1, along_y}, {2, about_z}, {3, about_z}}) {
      mechanism.joints[joint].frame_a = mechanism.joints[joint].frame_b = frame;
    }
    mechanism.joints[3].motor.present = true;
    mechanism.contacts = {{"foot", 3}};
    make_parameters(mechanism);
    const auto set_body = [&](int body, double m, double J) {
      mechanism.parameter(body, BodyParameter::kMass).value = m;
      mechanism.parameter(body, BodyParameter::kJxx).value = J;
      mechanism.parameter(body, BodyParameter::kJyy).value = J;
      mechanism.parameter(body, BodyParameter::kJzz).value = J;
    };
    set_body(2, trunk_mass, trunk_inertia);
    set_body(3, leg_mass, leg_inertia);
    mechanism.joint_parameter(2, JointParameter::kPointBy).value = -trunk_height;
    mechanism.joint_parameter(3, JointParameter::kPointAy).value = -trunk_height;
    mechanism.joint_parameter(3, JointParameter::kPointBy).value = leg_depth;
    mechanism.joint_parameter(3, JointParameter::kMotorGain).value = gain;
    mechanism.joint_parameter(3, JointParameter::kViscous).value = viscous;
    mechanism.at(mechanism.contact_parameter_index(0, ContactParameter::kPointY)).value =
        leg_depth - length;
    return mechanism;
  }

 private:
  static Eigen::Matrix<double, 2, 4> point_jacobian(const Vector2d& turned, double with_leg) {
    Eigen::Matrix<double, 2, 4> J;
    J << Eigen::Matrix2d::Identity(), turned, with_leg * turned;
    return J;
  }
  Eigen::Matrix<double, 2, 4> trunk_jacobian(const Vector4d& q) const {
    return point_jacobian(-trunk_height * Vector2d(std::cos(q[2]), std::sin(q[2])), 0.0);
  }
  Eigen::Matrix<double, 2, 4> leg_jacobian(const Vector4d& q) const {
    return point_jacobian(leg_depth * Vector2d(std::cos(q[2] + q[3]), std::sin(q[2] + q[3])), 1.0);
  }
};

constexpr double kHopPeriod = 5e-3;  // [s]
constexpr int kHopSamples = 201;

/// When the foot stands.
struct Stance {
  int lift_off = kHopSamples, touch_down = kHopSamples;  // samples

  bool at(int sample) const { return sample < lift_off || sample >= touch_down; }
};

/// Returns a recording with noise, whose motor moves by a sum of sines of random phases.
Recording hop(const Hopper& hopper, const Stance& stance, unsigned seed, double noise) {
  constexpr int kSteps = 20;
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> phase(0.0, 2.0 * M_PI);
  const double phases[] = {phase(random), phase(random)};
  Vector4d q(0.1, 0.39, 0.1 * normal(random), 0.1 * normal(random)), v = Vector4d::Zero();
  Segment segment;
  segment.period = kHopPeriod;
  segment.angles.resize(kHopSamples, 4);
  segment.controls.resize(kHopSamples, 1);
  segment.contacts.resize(kHopSamples, 1);
  for (int k = 0; k < kHopSamples; ++k) {
    const double t = k * kHopPeriod;
    const double control =
        1.5 * std::sin(20.0 * t + phases[0]) + 1.0 * std::sin(47.0 * t + phases[1]);
    const bool stands = stance.at(k);
    for (int j = 0; j < 4; ++j) segment.angles(k, j) = q[j] + noise * normal(random);
    segment.controls(k, 0) = control;
    segment.contacts(k, 0) = stands ? 1.0 : 0.0;
    if (stands && (k == 0 || !stance.at(k - 1))) v = hopper.stopped_foot(q, v);
    const double h = kHopPeriod / kSteps;
    for (int step = 0; step < kSteps; ++step) {  // classical Runge–Kutta
      const auto f = [&](const Vector4d& position, const Vector4d& rate) {
        return hopper.acceleration(position, rate, control, stands);
      };
      const Vector4d a1 = f(q, v), a2 = f(q + 0.5 * h * v, v + 0.5 * h * a1),
                     a3 = f(q + 0.5 * h * (v + 0.5 * h * a1), v + 0.5 * h * a2),
                     a4 = f(q + h * (v + 0.5 * h * a2), v + h * a3);
      q += h * (v + h / 6.0 * (a1 + a2 + a3));
      v += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
    }
  }
  return {"hop " + std::to_string(seed), {segment}};
}

const std::map<std::string, double> kHopTruth = {
    {"trunk.m", 3.0}, {"trunk.J_zz", 0.04}, {"leg.J_zz", 0.012}, {"hip.b", 0.1}};

Mechanism wrong_start(const Hopper& hopper) {
  Mechanism mechanism = hopper.mechanism();
  for (const auto& [name, value] : kHopTruth) {
    Parameter& parameter = mechanism.at(mechanism.find_parameter(name));
    parameter.value = 1.2 * value;
    parameter.free = true;
  }
  return mechanism;
}

void expect_truth(const Hopper& hopper, const Stance& stance, const std::string& what) {
  int covered = 0, count = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const Calibration result = calibrate(wrong_start(hopper), {hop(hopper, stance, seed, 5e-4)});
    EXPECT_TRUE(result.converged()) << what << ", seed " << seed;
    for (const ParameterEstimate& estimate : result.parameters) {
      const double z = (estimate.value - kHopTruth.at(estimate.name)) / estimate.standard_deviation;
      EXPECT_LT(std::abs(z), 5.0) << what << ", seed " << seed << ": " << estimate.name;
      covered += std::abs(z) < 1.96 ? 1 : 0;
      ++count;
    }
  }
  std::cout << what << ": " << covered << " of " << count
            << " estimates within their 95 % intervals\n";
  // Four binomial standard deviations below 95 %.
  EXPECT_GE(covered, 0.95 * count - 4.0 * std::sqrt(0.95 * 0.05 * count));
}

TEST(GroundContactCalibration, IntervalsCoverTheTruthInStance) {
  expect_truth(Hopper(), {}, "stance");
}

TEST(GroundContactCalibration, IntervalsCoverTheTruthAcrossLiftOffAndTouchDown) {
  expect_truth(Hopper(), {.lift_off = 70, .touch_down = 120}, "hop");
}

// Without the reaction of the ground the same data do not fit.
TEST(GroundContactCalibration, RejectsTheModelWithoutContact) {
  const Hopper hopper;
  Recording recording = hop(hopper, {}, 1, 5e-4);
  recording.segments[0].contacts.setZero();
  const Calibration result = calibrate(wrong_start(hopper), {recording});
  double largest = 0.0;
  for (const ParameterEstimate& estimate : result.parameters) {
    const double truth = kHopTruth.at(estimate.name);
    largest = std::max(largest, std::abs(estimate.value - truth) / truth);
  }
  EXPECT_GT(largest, 0.5);
}

TEST(GroundContactCalibration, RefusesContactsThatTheRecordingExcludes) {
  const Hopper hopper;
  const auto refusal_of = [](const Mechanism& mechanism, const Recording& recording) {
    try {
      calibrate(mechanism, {recording});
    } catch (const std::invalid_argument& refused) {
      return std::string(refused.what());
    }
    return std::string();
  };
  Recording flight = hop(hopper, {.lift_off = 40}, 1, 5e-4);
  flight.segments[0].contacts.setOnes();
  test_support::expect_parts(refusal_of(wrong_start(hopper), flight),
                             {"hop 1: contact \"foot\" is active", "has moved by", "Check"});
  Recording stance = hop(hopper, {}, 2, 5e-4);
  Mechanism held = wrong_start(hopper);
  held.contacts = {{"foot", 3, GroundContact::Kind::kPlane},
                   {"back", 2, GroundContact::Kind::kPlane}};
  const ParameterList before = held.parameters;
  make_parameters(held);
  std::copy(before.begin(), before.end(), held.parameters.begin());
  stance.segments[0].contacts = Eigen::MatrixXd::Ones(kHopSamples, 2);
  test_support::expect_parts(refusal_of(held, stance),
                             {"hop 2: from 0 s on", "leave the rig no motion", "kind: POINT"});
}

}  // namespace
}  // namespace estimator
