#pragma once

#include <Eigen/Core>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace service {

/// Where a frame stands in another: x_other = rotation · x + translation.
struct Placement {
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();
  Eigen::Vector3d translation = Eigen::Vector3d::Zero();  ///< [m]
};

/// A link's mass distribution, in the link's frame.
struct UrdfInertial {
  double mass = 0.0;                                  ///< [kg]
  Eigen::Vector3d center = Eigen::Vector3d::Zero();   ///< of mass [m]
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  ///< about it, along the link's axes [kg·m²]
};

struct UrdfLink {
  std::string name;
  std::optional<UrdfInertial> inertial;  ///< absent where it has no mass
};

enum class UrdfJointType { kRevolute, kPrismatic, kFixed };

struct UrdfJoint {
  std::string name;
  UrdfJointType type = UrdfJointType::kFixed;
  std::size_t parent = 0, child = 0;  ///< links
  Placement origin;                   ///< of the joint and of the child's frame, in the parent's
  Eigen::Vector3d axis = Eigen::Vector3d::UnitX();  ///< in the child's frame
  /// Range [rad or m]; unbounded where it turns freely.
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  double effort = 0.0;    ///< largest [N·m or N]; 0: not stated
  double velocity = 0.0;  ///< largest [rad/s or m/s]; 0: not stated
  double damping = 0.0;   ///< [N·m·s/rad or N·s/m]
  double friction = 0.0;  ///< [N·m or N]
  std::string mimicked;   ///< joint that it follows; empty: none
  int line = 0;
};

/// A robot's kinematic tree, as its URDF file says.
struct UrdfRobot {
  std::string name;
  std::vector<UrdfLink> links;
  std::vector<UrdfJoint> joints;
  std::size_t root = 0;  ///< the link that is no child
};

/// Reads a URDF file: links, inertials, joints with their limits, dynamics and mimicry. Shapes,
/// materials, meshes and extensions of simulators are passed over.
/// @param path  for messages
/// @throws proto::InputError "FILE:LINE: what; what to do" for what is no URDF, no tree, or has
///         joints of other types
UrdfRobot parse_urdf(const std::string& path, const std::string& text);

}  // namespace service
