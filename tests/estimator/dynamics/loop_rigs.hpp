#pragma once

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"
#include "estimator/simulation/segment_controls.hpp"
#include "estimator/simulation/tree_program.hpp"
#include "tests/estimator/dynamics/interval_run.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

// Mechanisms with closed loops, and their controls.
namespace estimator {

inline constexpr double kMotionStep = 1e-3;  // [s]

inline Joint joint(const std::string& name, int a, int b, const Eigen::Vector3d& axis,
                   const Eigen::Vector3d& mark) {
  Joint joint;
  joint.name = name;
  joint.body_a = a;
  joint.body_b = b;
  joint.frame_a = joint.frame_b = make_joint_frame(axis, mark);
  return joint;
}

inline void set_body(Mechanism& mechanism, int body, double mass, const Eigen::Vector3d& moments) {
  mechanism.parameter(body, BodyParameter::kMass).value = mass;
  set_inertia(mechanism, body, moments);
}

inline constexpr double kCrank = 0.1, kCoupler = 0.28, kRocker = 0.2, kGroundLink = 0.3;
inline constexpr double kOff = 0.012;  // the coupler's centre of mass off its axis

/// Returns a four-bar linkage: crank, coupler and rocker in the vertical plane.
inline Mechanism moving_four_bar() {
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), z = Eigen::Vector3d::UnitZ();
  Mechanism mechanism;
  mechanism.bodies = {{"crank"}, {"coupler"}, {"rocker"}};
  mechanism.joints = {joint("O", Joint::kGround, 0, z, x), joint("P", 0, 1, z, x),
                      joint("Q", 1, 2, z, x), joint("R", Joint::kGround, 2, z, x)};
  make_parameters(mechanism);
  set_body(mechanism, 0, 0.15, {1.0, 1.0, 1.3e-4});
  set_body(mechanism, 1, 0.25, {1.0, 1.0, 1.6e-3});
  set_body(mechanism, 2, 0.2, {1.0, 1.0, 6.7e-4});
  set_joint_points(mechanism, 0, Eigen::Vector3d::Zero(), -0.5 * kCrank * x);
  set_joint_points(mechanism, 1, 0.5 * kCrank * x, {-0.5 * kCoupler, kOff, 0.0});
  set_joint_points(mechanism, 2, {0.5 * kCoupler, kOff, 0.0}, 0.5 * kRocker * x);
  set_joint_points(mechanism, 3, kGroundLink * x, -0.5 * kRocker * x);
  return mechanism;
}

inline void add_friction(Mechanism& mechanism, double viscous, double coulomb) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    mechanism.joint_parameter(j, JointParameter::kViscous).value = viscous * (1.0 + 0.3 * j);
    mechanism.joint_parameter(j, JointParameter::kCoulombTorque).value = coulomb * (1.0 + 0.2 * j);
  }
}

inline CoordinateChoice choice_at(const Mechanism& mechanism, const Eigen::VectorXd& angles) {
  LoopClosure closure(mechanism);
  EXPECT_LT(closure.closure_violation(angles).cwiseAbs().maxCoeff(), 1e-12);
  return closure.choose_coordinates({angles});
}

/// Returns the initial independent coordinates and their rates for given joint angles and rates.
inline Eigen::VectorXd start_of(const TreeProgram& program, const Eigen::VectorXd& angles,
                                const Eigen::VectorXd& rates) {
  const int c = program.coordinate_count();
  Eigen::VectorXd start(2 * c);
  for (int p = 0; p < c; ++p) {
    const int j = program.independent_joints()[static_cast<std::size_t>(p)];
    start[p] = angles[j];
    start[c + p] = rates[j];
  }
  return start;
}

/// Returns a five-bar linkage: two cranks and two rods connected by a joint, with two degrees of
/// freedom.
inline Mechanism five_bar() {
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), z = Eigen::Vector3d::UnitZ();
  Mechanism mechanism;
  mechanism.bodies = {{"left1"}, {"left2"}, {"right1"}, {"right2"}};
  mechanism.joints = {joint("O1", Joint::kGround, 0, z, x), joint("E1", 0, 1, z, x),
                      joint("O2", Joint::kGround, 2, z, x), joint("E2", 2, 3, z, x),
                      joint("T", 1, 3, z, x)};
  mechanism.joints[0].motor.present = mechanism.joints[2].motor.present = true;
  make_parameters(mechanism);
  const double mass[] = {0.12, 0.1, 0.11, 0.13}, inertia[] = {1.4e-4, 2.7e-4, 1.5e-4, 2.5e-4};
  for (int i = 0; i < 4; ++i) set_body(mechanism, i, mass[i], {1.0, 1.0, inertia[i]});
  set_joint_points(mechanism, 0, Eigen::Vector3d::Zero(), -0.06 * x);
  set_joint_points(mechanism, 1, 0.06 * x, -0.09 * x);
  set_joint_points(mechanism, 2, 0.14 * x, -0.06 * x);
  set_joint_points(mechanism, 3, 0.06 * x, -0.09 * x);
  set_joint_points(mechanism, 4, 0.09 * x, 0.09 * x);
  for (const int j : {0, 2}) {
    mechanism.joint_parameter(j, JointParameter::kMotorGain).value = 0.05;
    mechanism.joint_parameter(j, JointParameter::kBackEmf).value = 0.1;
    mechanism.joint_parameter(j, JointParameter::kStiffness).value = 0.3;
    mechanism.joint_parameter(j, JointParameter::kRestAngle).value = j == 0 ? 2.1 : 1.0;
  }
  add_friction(mechanism, 5e-4, 0.0);
  mechanism.joint_parameter(0, JointParameter::kCoulombTorque).value = 6e-3;
  mechanism.joint_parameter(2, JointParameter::kCoulombTorque).value = 5e-3;
  mechanism.joint_parameter(4, JointParameter::kCoulombTorque).value = 2e-3;
  mechanism.parameter(GravityParameter::kGravity).value = 0.0;
  return mechanism;
}

/// @param parts  number of parts into which each step is divided
inline SegmentControls driven(const TreeProgram& program, int steps, int parts = 1) {
  Segment segment;
  segment.period = kMotionStep;
  const auto motors = static_cast<Eigen::Index>(program.motor_joints().size());
  segment.controls.resize(steps + 1, motors);
  for (int k = 0; k <= steps; ++k) {
    for (Eigen::Index m = 0; m < motors; ++m) {
      segment.controls(k, m) =
          1.6 * std::sin(0.021 * k + 1.3 * static_cast<double>(m)) + (k % 160 < 60 ? 0.8 : -0.3);
    }
  }
  segment.angles = Eigen::MatrixXd::Zero(steps + 1, 1);
  return {segment, even_edges(kMotionStep / parts, steps * parts),
          std::vector<ControlDelay>(program.motor_joints().size())};
}

struct DrivenFiveBar {
  Mechanism mechanism = five_bar();
  Eigen::VectorXd angles;

  /// @param dryness  factor on the joints' dry friction
  explicit DrivenFiveBar(double dryness = 1.0) {
    for (int j = 0; j < mechanism.joint_count(); ++j) {
      mechanism.joint_parameter(j, JointParameter::kCoulombTorque).value *= dryness;
    }
    LoopClosure closure(mechanism);
    angles.resize(5);
    angles << 2.1, -1.35, 1.05, 1.35, 1.6;
    Eigen::VectorXd wanted = Eigen::VectorXd::Constant(5, std::nan(""));
    wanted[0] = 2.1;
    wanted[2] = 1.05;
    EXPECT_TRUE(closure.close(angles, wanted));
  }
};

}  // namespace estimator
