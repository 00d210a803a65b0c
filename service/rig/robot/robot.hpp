#pragma once

#include <Eigen/Core>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "estimator/model/joint_kind.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Pose of an inner frame in an outer frame. A point x in the inner frame is the point rotation · x
/// + translation in the outer frame.
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

/// Returns the rotation from the robot's world frame (z up) to the rig's world frame (y up).
Eigen::Matrix3d robot_to_rig_rotation();

/// Mass, centre of mass and inertia tensor of a robot link, in the frame of the link.
struct RobotInertial {
  double mass = 0.0;                                  ///< [kg]
  Eigen::Vector3d center = Eigen::Vector3d::Zero();   ///< centre of mass [m]
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  ///< about the centre of mass [kg·m²]
};

/// Link of a robot: a rigid body that is connected to other links by joints.
struct RobotLink {
  std::string name;
  std::optional<RobotInertial> inertial;  ///< nullopt for a massless link
};

/// Motor of a joint. The torque or force is gain · (u − back_emf · rate), with the control signal u
/// and the joint speed `rate`.
struct RobotMotor {
  std::string control_unit;
  double gain = 1.0;
  double back_emf = 0.0;
  double control_max = 0.0;  ///< largest |u|; 0 if unknown
};

/// Coupling of a mimic joint. The coordinate of the mimic joint is `ratio` times the coordinate of
/// `joint`, plus `offset`.
struct MimicCoupling {
  std::string joint;
  double ratio = 1.0;
  double offset = 0.0;  ///< [rad] or [m]
};

/// Joint of a robot. Units are given for revolute joints. For prismatic joints, lengths in m
/// replace angles in rad, N replaces N·m, and kg replaces kg·m².
struct RobotJoint {
  std::string name;
  /// Kind of the joint; nullopt for a fixed joint, kQuaternion for a free joint.
  std::optional<estimator::JointKind> kind = {};
  std::size_t parent = 0, child = 0;              ///< link indices
  Placement origin;  ///< child frame in the parent frame, at joint coordinate 0
  Eigen::Vector3d axis = Eigen::Vector3d::UnitX();          ///< joint axis in the child frame
  Eigen::Vector3d at = Eigen::Vector3d::Zero();             ///< point on the axis, child frame [m]
  double lower = -std::numeric_limits<double>::infinity();  ///< lower limit [rad]
  double upper = std::numeric_limits<double>::infinity();   ///< upper limit [rad]
  double velocity = 0.0;                                    ///< largest speed [rad/s]; 0 if unknown
  double damping = 0.0;                                     ///< viscous damping [N·m·s/rad]
  double friction = 0.0;                                    ///< dry friction [N·m]
  double armature = 0.0;   ///< rotor inertia referred to the joint [kg·m²]
  double stiffness = 0.0;  ///< spring stiffness [N·m/rad]
  double rest = 0.0;       ///< coordinate at which the spring is relaxed [rad]
  std::optional<RobotMotor> motor = {};
  std::optional<MimicCoupling> follows = {};
  int line = 0;

  bool moves() const { return kind.has_value(); }
  bool is_free() const { return kind == estimator::JointKind::kQuaternion; }
  /// Returns the properties of the joint type. The joint must not be fixed.
  const estimator::JointTraits& kind_traits() const { return joint_traits(*kind); }
  bool has_finite_range() const {
    return lower < upper && std::isfinite(lower) && std::isfinite(upper);
  }
};

/// Joint that closes a kinematic loop between two links.
struct RobotLoop {
  std::string name;
  std::array<std::size_t, 2> links = {};
  /// Point on the joint axis [m], and direction of the axis, in the frames of the two links.
  std::array<Eigen::Vector3d, 2> points = {}, axes = {};
};

/// Largest number of links in a robot description. The rig file of a robot with this many links
/// can be made and checked within seconds.
inline constexpr std::size_t kRobotLinksMax = 1000;
inline constexpr const char* kTooManyLinks =
    "has more than 1000 links, the limit; import a part of the robot";

/// Robot as a kinematic tree of links and joints, with additional joints that close loops.
struct Robot {
  std::string name;
  std::vector<RobotLink> links;
  std::vector<RobotJoint> joints;
  std::vector<RobotLoop> loops;
  std::size_t root = 0;                    ///< link without a parent
  std::optional<Eigen::Vector3d> gravity;  ///< [m/s²], z up; nullopt for standard gravity
  std::vector<std::string> notes;          ///< contents of the file that a Robot cannot represent

  /// Returns for each link the indices of its child joints.
  std::vector<std::vector<std::size_t>> find_child_joints() const;

  /// Returns for each link the index of the joint above it; the number of joints for the root.
  std::vector<std::size_t> find_parent_joints() const;
};

/// Adds a free joint with the name prefix + "free". Its coordinates are the pose of the child link
/// in the frame of the parent link, as in MuJoCo.
void add_free_joint(Robot& robot, std::size_t parent, std::size_t child, const std::string& prefix,
                    int line);

/// Joints of a robot by name. The robot must outlive the index, and its joints must stay in place.
class JointIndex {
 public:
  explicit JointIndex(const Robot& robot);

  /// Returns the joint with this name; null if there is none.
  const RobotJoint* find(const std::string& name) const;
  /// Returns whether a joint is the joint `other`, or mimics `other` directly or through further
  /// joints.
  bool does_mimic(const RobotJoint& joint, const RobotJoint& other) const;
  /// Returns the joint that a joint mimics, directly or through further joints; the joint itself
  /// if it mimics none.
  const RobotJoint& find_independent(const RobotJoint& joint) const;

 private:
  /// Returns the joint that a mimic joint follows; null if the joint mimics none.
  const RobotJoint* find_mimicked(const RobotJoint& joint) const;

  const Robot& robot_;
  std::map<std::string, std::size_t> index_;
};

/// Parses the text of a URDF file or a MuJoCo model. The root element determines the format.
Robot parse_robot(const std::string& path, const std::string& text);

/// Parses the text of a URDF file: links, inertials, and joints with limits, dynamics and mimic
/// elements. Geometry, materials and simulator extensions are skipped.
/// @param path  name of the file for messages
/// @throws proto::InputError "FILE:LINE: message; remedy" if the text is not a URDF, the links do
///         not form a tree, or a joint type is not supported
Robot parse_urdf(const std::string& path, const std::string& text);

/// Parses the text of a MuJoCo model (MJCF): bodies with inertials, hinge, slide and free joints,
/// defaults, motors, gravity, and connections that close loops. Geometry, contacts, sensors and
/// visuals are skipped. Other unsupported elements are listed in the notes.
/// @param path  name of the file for messages
/// @throws proto::InputError "FILE:LINE: message; remedy", also for masses that only MuJoCo can
///         compute from geometry
Robot parse_mjcf(const std::string& path, const std::string& text);

/// Text of a robot description file. The notes list the properties of the robot that the file
/// format cannot represent, one sentence each.
struct RobotFileText {
  std::string text;
  std::vector<std::string> notes;
};

/// Returns a robot as the text of a URDF file. The origin of a link frame is on the axis of the
/// link's joint.
/// @param remarks  lines of the comment at the beginning of the file
RobotFileText format_urdf(const Robot& robot, const std::vector<std::string>& remarks);

/// Returns a robot as the text of a MuJoCo model (MJCF). A joint that closes a loop becomes a
/// connection of two bodies at two points. Moving bodies must have mass in MuJoCo, so the joints of
/// a massless link are moved to the body that the link carries.
RobotFileText format_mjcf(const Robot& robot, const std::vector<std::string>& remarks);

/// Options for converting a robot description to a rig file.
struct RobotConversionOptions {
  std::string source = {};  ///< name of the source file for the first line of the rig file
  bool floating = false;    ///< the base moves freely; if false, it is fixed to the ground
  bool friction = true;     ///< estimate viscous and dry friction of every joint
  std::vector<std::string> joints = {};  ///< joints that move, as do their mimic joints; empty: all
  /// Coordinates of joints that do not move because of `joints` [rad] or [m]; default zero.
  std::map<std::string, double> positions = {};
  double length_scale = 1.0;   ///< factor of all lengths, for example 0.001 for mm
  double inertia_scale = 1.0;  ///< factor of all inertias of links
};

/// Text of a rig file made from a robot description, with notes on contents that were left out.
struct ConvertedRigText {
  std::string text;
  std::vector<std::string> notes;
  std::string gravity;  ///< magnitude and origin of gravity, e.g. "gravity is 9.81 m/s² (…)"
};

/// Converts a robot to the text of a valid rig file (proto/rig.proto). A link becomes a body with
/// the same frame; its centre of mass need not be at the origin. The vertical axis z of the world
/// becomes y.
///
/// A massless link is kept if it is between two joints, merged with the link to which it is fixed,
/// or left out if it carries nothing. Physically impossible values are corrected, and a note
/// reports that units are probably not m and kg·m² (robot_checks.hpp).
/// @throws proto::InputError if no moving link has mass, or for a wrong name in `joints`
ConvertedRigText convert_robot_to_rig(Robot robot, const RobotConversionOptions& choice);

/// Converts a rig to a robot. Bodies become links, and the ground becomes the root link "world".
/// The notes list properties that a robot description cannot represent, such as friction that
/// decreases with speed or depends on load, delays, and encoder offsets.
Robot convert_rig_to_robot(const Rig& rig);

}  // namespace service
