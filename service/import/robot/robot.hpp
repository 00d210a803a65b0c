#pragma once

#include <Eigen/Core>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "estimator/model/joint_kind.hpp"

namespace service {

/// Pose of a frame in another: x_other = rotation · x + translation.
struct Placement {
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
  Eigen::Vector3d translation = Eigen::Vector3d::Zero();  ///< [m]

  Placement operator*(const Placement& inner) const {
    return {rotation * inner.rotation, rotation * inner.translation + translation};
  }
  Placement inverse() const {
    return {rotation.transpose(), -(rotation.transpose() * translation)};
  }
};

/// Returns the rotation from a robot's world (z up) to a rig's (y up).
Eigen::Matrix3d rig_from_robot_world();

/// Mass distribution of a link, in the link's frame.
struct RobotInertial {
  double mass = 0.0;                                  ///< [kg]
  Eigen::Vector3d center = Eigen::Vector3d::Zero();   ///< centre of mass [m]
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  ///< about it, along the link's axes [kg·m²]
};

struct RobotLink {
  std::string name;
  std::optional<RobotInertial> inertial;  ///< absent if massless
};

/// Motor with torque or force gain (u − back_emf rate), u the control signal.
struct RobotMotor {
  std::string control_unit;
  double gain = 1.0;
  double back_emf = 0.0;
  double control_max = 0.0;  ///< largest |u|; 0: unknown
};

/// Coupling of a mimic joint: its coordinate is ratio times another's plus offset.
struct MimicCoupling {
  std::string joint;
  double ratio = 1.0;
  double offset = 0.0;  ///< [rad] or [m]
};

/// Joint. For a prismatic one read m for rad, N for N·m and kg for kg·m².
struct RobotJoint {
  std::string name;
  std::optional<estimator::JointKind> kind = {};  ///< none: fixed
  std::size_t parent = 0, child = 0;              ///< link indices
  Placement origin;                               ///< child frame in the parent's, at coordinate 0
  Eigen::Vector3d axis = Eigen::Vector3d::UnitX();          ///< in the child's frame
  Eigen::Vector3d at = Eigen::Vector3d::Zero();             ///< point on the axis there [m]
  double lower = -std::numeric_limits<double>::infinity();  ///< range [rad]
  double upper = std::numeric_limits<double>::infinity();
  double velocity = 0.0;   ///< largest speed [rad/s]; 0: unknown
  double damping = 0.0;    ///< [N·m·s/rad]
  double friction = 0.0;   ///< dry [N·m]
  double armature = 0.0;   ///< inertia of the motor's rotor, at the joint [kg·m²]
  double stiffness = 0.0;  ///< spring stiffness [N·m/rad]
  double rest = 0.0;       ///< coordinate at which the spring is relaxed [rad]
  std::optional<RobotMotor> motor = {};
  std::optional<MimicCoupling> follows = {};
  bool of_free_body = false;  ///< one of the six joints of a free body
  int line = 0;

  bool moves() const { return kind.has_value(); }
  /// Requires a joint that is not fixed.
  const estimator::JointTraits& traits() const { return joint_traits(*kind); }
  bool has_range() const { return lower < upper && std::isfinite(lower) && std::isfinite(upper); }
};

/// Joint that closes a kinematic loop: two links share its axis.
struct RobotLoop {
  std::string name;
  std::array<std::size_t, 2> links = {};
  /// In the frame of each link.
  std::array<Eigen::Vector3d, 2> points = {}, axes = {};
};

/// Kinematic tree of a robot.
struct Robot {
  std::string name;
  std::vector<RobotLink> links;
  std::vector<RobotJoint> joints;
  std::vector<RobotLoop> loops;
  std::size_t root = 0;                    ///< link without a parent
  std::optional<Eigen::Vector3d> gravity;  ///< z up [m/s²]; absent: not given
  std::vector<std::string> notes;          ///< contents of the file that are not represented

  /// Returns the child joints of each link, in order.
  std::vector<std::vector<std::size_t>> child_joints() const;

  /// Whether `joint` is `other` or mimics it, directly or through other joints.
  bool follows(std::string joint, const std::string& other) const;
};

/// Adds six joints between two links: slides along the axes of a world with z up, then rotations
/// about the vertical and two more axes, with massless links between. The child's frame is at
/// `origin` if all coordinates are zero.
/// @param prefix  prefix of the added names
void add_free_joint(Robot& robot, std::size_t parent, std::size_t child, const Placement& origin,
                    const std::string& prefix, int line);

}  // namespace service
