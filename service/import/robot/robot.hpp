#pragma once

#include <Eigen/Core>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "estimator/model/joint_kind.hpp"

namespace service {

/// Where a frame stands in another: x_other = rotation · x + translation.
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

/// Rig files have y up, robots' descriptions z: where a world with z up stands in one with y up.
Eigen::Matrix3d rig_from_robot_world();

/// A link's mass distribution, in the link's frame.
struct RobotInertial {
  double mass = 0.0;                                  ///< [kg]
  Eigen::Vector3d center = Eigen::Vector3d::Zero();   ///< of mass [m]
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  ///< about it, along the link's axes [kg·m²]
};

struct RobotLink {
  std::string name;
  std::optional<RobotInertial> inertial;  ///< absent where it has no mass
};

/// Torque or force gain (u − back_emf rate), with u the control signal.
struct RobotMotor {
  std::string control_unit;
  double gain = 1.0;
  double back_emf = 0.0;
  double control_max = 0.0;  ///< largest |u|; 0: not stated
};

/// That a joint's coordinate is ratio times another's plus an offset.
struct RobotFollow {
  std::string joint;
  double ratio = 1.0;
  double offset = 0.0;  ///< [rad] or [m]
};

/// A joint; of one that slides read m for rad, N for N·m and kg for kg·m².
struct RobotJoint {
  std::string name;
  std::optional<estimator::JointKind> kind = {};  ///< none: it is fixed
  std::size_t parent = 0, child = 0;              ///< links
  Placement origin;  ///< of the child's frame in the parent's, at coordinate 0
  Eigen::Vector3d axis = Eigen::Vector3d::UnitX();          ///< in the child's frame
  Eigen::Vector3d at = Eigen::Vector3d::Zero();             ///< where the axis is there [m]
  double lower = -std::numeric_limits<double>::infinity();  ///< range [rad]
  double upper = std::numeric_limits<double>::infinity();
  double velocity = 0.0;   ///< largest [rad/s]; 0: not stated
  double damping = 0.0;    ///< [N·m·s/rad]
  double friction = 0.0;   ///< dry [N·m]
  double armature = 0.0;   ///< inertia of the motor's shaft, as the joint feels it [kg·m²]
  double stiffness = 0.0;  ///< of a spring [N·m/rad]
  double rest = 0.0;       ///< where that is slack [rad]
  std::optional<RobotMotor> motor = {};
  std::optional<RobotFollow> follows = {};
  bool of_free_body = false;  ///< one of the axes along which nothing holds or reads a body
  int line = 0;

  bool moves() const { return kind.has_value(); }
  /// Of a joint that is not fixed.
  const estimator::JointTraits& traits() const { return joint_traits(*kind); }
  bool has_range() const { return lower < upper && std::isfinite(lower) && std::isfinite(upper); }
};

/// A hinge that closes a loop of the tree: two links share its axis.
struct RobotLoop {
  std::string name;
  std::array<std::size_t, 2> links = {};
  /// In the frame of each link.
  std::array<Eigen::Vector3d, 2> points = {}, axes = {};
};

/// A robot's kinematic tree.
struct Robot {
  std::string name;
  std::vector<RobotLink> links;
  std::vector<RobotJoint> joints;
  std::vector<RobotLoop> loops;
  std::size_t root = 0;                    ///< the link that is no child
  std::optional<Eigen::Vector3d> gravity;  ///< acceleration, z up [m/s²]; absent: not stated
  std::vector<std::string> notes;          ///< what the description had and this has not

  /// Joints that leave each link, in order.
  std::vector<std::vector<std::size_t>> joints_below() const;

  /// Whether a joint is the other, or follows it, by others in between if need be.
  bool follows(std::string joint, const std::string& other) const;
};

/// Lets a link move freely against another: three slides along the axes of a world with z up, then
/// turns about the vertical and two more, by links without mass. The link's frame is at `origin`
/// where all are zero.
/// @param prefix  of the names of what is added
void add_free_joint(Robot& robot, std::size_t parent, std::size_t child, const Placement& origin,
                    const std::string& prefix, int line);

}  // namespace service
