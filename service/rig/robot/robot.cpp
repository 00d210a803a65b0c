#include "service/rig/robot/robot.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <utility>

#include "estimator/model/joint_friction.hpp"
#include "estimator/model/sensor.hpp"
#include "proto/notation/number_format.hpp"
#include "proto/text/input_error.hpp"
#include "service/rig/robot/robot_checks.hpp"

namespace service {
namespace {

// Initial values of friction that the file does not give: small for a robot's joint.
constexpr double kViscousStart = 0.01;  // [N·m·s/rad] or [N·s/m]
constexpr double kDryStart = 0.01;      // [N·m] or [N]

// Largest tilt of gravity in a rig file.
constexpr double kTiltMost = 1.5;  // [rad]

// Least moment of inertia in a rig file.
constexpr double kInertiaLeast = 1e-9;  // [kg·m²]

/// Returns a number as text without loss of digits. Rounding errors around zero become 0.
std::string number(double value, double size = 1.0) {
  if (std::abs(value) < 1e-15 * size) return "0";
  return notation::format_exact(value);
}

std::string direction(const Eigen::Vector3d& v) {
  std::string text = "{";
  const char* const names[] = {" x: ", " y: ", " z: "};
  for (int k = 0; k < 3; ++k) {
    if (number(v(k)) != "0") text += names[k] + number(v(k));
  }
  return text + " }";
}

/// Returns the nonzero coordinates of a point as text; empty for the origin.
std::string point(const Eigen::Vector3d& v) {
  std::string text;
  const char* const names[] = {" x", " y", " z"};
  for (int k = 0; k < 3; ++k) {
    if (number(v(k)) != "0") text.append(names[k]).append(" { value: " + number(v(k)) + " }");
  }
  return text;
}

/// Returns a unit vector perpendicular to an axis. It is close to the coordinate axis that is most
/// nearly perpendicular.
Eigen::Vector3d across(const Eigen::Vector3d& axis) {
  Eigen::Index least = 0;
  axis.cwiseAbs().minCoeff(&least);
  const Eigen::Vector3d e = Eigen::Vector3d::Unit(least);
  return (e - e.dot(axis) * axis).normalized();
}

/// Body of the rig, or the ground, that represents a link of the robot.
struct Carrier {
  std::string body = "ground";
  Placement placement;  ///< pose of the link frame in the frame of the body
};

class RigWriter {
 public:
  /// @param fixed_joints  names of the joints that --joints fixes; empty if none
  RigWriter(const Robot& robot, const RobotConversionOptions& choice, std::string fixed_joints)
      : robot_(robot),
        choice_(choice),
        fixed_joints_(std::move(fixed_joints)),
        joints_below_(robot.find_child_joints()),
        carries_mass_(find_links_with_mass(robot)),
        carriers_(robot.links.size()),
        notes_(robot.notes) {}

  ConvertedRigText write() {
    text_ = fmt::format(
        "# proto-file: proto/rig.proto\n# proto-message: rigcal.v1.Rig\n#\n"
        "# Made from {}. Mark the parameters to estimate with `free: true`.\n",
        choice_.source);
    if (!fixed_joints_.empty()) text_ += "# Fixed by --joints: " + fixed_joints_ + ".\n";
    text_ += fmt::format("name: {:?}\n", plain(robot_.name));
    const RobotLink& base = robot_.links[robot_.root];
    if (base.inertial)
      proto::add_note(notes_, "link {:?} is the fixed base: its mass has no effect", base.name);
    const Carrier ground{.placement = {robot_to_rig_rotation(), Eigen::Vector3d::Zero()}};
    add_links(ground);
    if (names_.empty()) {
      throw proto::InputError(
          "{}: no moving link has mass. Give the links masses and moments of inertia, "
          "or add --floating if the base moves",
          choice_.source);
    }
    for (const RobotLoop& loop : robot_.loops) add_loop(loop);
    add_gravity();
    text_ += safety_.empty() ? "" : "safety {\n" + safety_ + "}\n";
    if (!columns_.empty()) {
      text_ += "recording {\n  time { column: \"t_s\" }\n" + columns_ + controls_ + "}\n";
    }
    return {std::move(text_), std::move(notes_), std::move(gravity_)};
  }

 private:
  /// Returns a name that is valid and unique in the rig file.
  std::string named(const std::string& name) {
    std::string allowed = name;
    std::ranges::replace_if(
        allowed,
        [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-'; },
        '_');
    if (allowed == "ground" || allowed == "gravity") allowed += "_link";
    std::string unique = allowed;
    for (int k = 2; !names_.insert(unique).second; ++k) unique = allowed + "_" + std::to_string(k);
    if (unique != name) proto::add_note(notes_, "{:?} is renamed to {:?}", name, unique);
    return unique;
  }

  static std::string plain(std::string name) {
    std::erase_if(name, [](char c) { return c == '"' || c == '\\' || c == '\n'; });
    return name;
  }

  /// Returns for each link whether it, or a link that it carries, has mass.
  static std::vector<bool> find_links_with_mass(const Robot& robot) {
    const std::vector<std::size_t> above = robot.find_parent_joints();
    std::vector<bool> found(robot.links.size(), false);
    for (std::size_t link = 0; link < robot.links.size(); ++link) {
      if (!robot.links[link].inertial) continue;
      for (std::size_t at = link; !found[at];) {
        found[at] = true;
        if (above[at] < robot.joints.size()) at = robot.joints[above[at]].parent;
      }
    }
    return found;
  }

  static std::string side(const std::string& which, const std::string& body,
                          const Eigen::Vector3d& at, const Eigen::Vector3d& axis,
                          const Eigen::Vector3d& zero) {
    std::string text = "  " + which + " { body: \"" + body + "\"";
    if (const std::string place = point(at); !place.empty()) text += " point {" + place + " }";
    return text + " axis " + direction(axis) + " zero_direction " + direction(zero) + " }\n";
  }

  std::string add_massless(const std::string& name) {
    const std::string body = named(name);
    text_ += "body { name: \"" + body + "\" massless: true }\n";
    return body;
  }

  std::string add_body(const RobotLink& link) {
    if (!link.inertial) return add_massless(link.name);
    const RobotInertial& inertial = *link.inertial;
    Eigen::Matrix3d J = inertial.inertia;
    const std::string body = named(link.name);
    if (const double missing = kInertiaLeast - J.diagonal().minCoeff(); missing > 0.0) {
      J.diagonal().array() += missing;
      proto::add_note(notes_,
                      "link {:?}: all moments of inertia were raised by {}, to at least {} kg·m²",
                      link.name, notation::format_number(missing), number(kInertiaLeast));
    }
    const double size = J.diagonal().maxCoeff();
    const auto entry = [&](const char* name, int i, int k) {
      const std::string value = number(J(i, k), size);
      return i != k && value == "0" ? "" : std::string(" ") + name + " { value: " + value + " }";
    };
    text_ += "body {\n  name: \"" + body + "\"\n  mass { value: " + number(inertial.mass) +
             " }\n  inertia {" + entry("xx", 0, 0) + entry("yy", 1, 1) + entry("zz", 2, 2) +
             entry("xy", 0, 1) + entry("xz", 0, 2) + entry("yz", 1, 2) + " }\n";
    if (const std::string center = point(inertial.center); !center.empty()) {
      text_ += "  center_of_mass {" + center + " }\n";
    }
    text_ += "}\n";
    return body;
  }

  /// Adds all links that carry mass, each before the links that it carries.
  void add_links(const Carrier& ground) {
    // A list instead of recursion, because chains of links can be long.
    std::vector<std::pair<std::size_t, Carrier>>
        open;  // joints, with the carriers of their parents
    const auto open_below = [&](std::size_t link, const Carrier& carrier) {
      carriers_[link] = carrier;
      for (std::size_t k = joints_below_[link].size(); k-- > 0;) {
        open.emplace_back(joints_below_[link][k], carrier);
      }
    };
    open_below(robot_.root, ground);
    while (!open.empty()) {
      const auto [index, parent] = std::move(open.back());
      open.pop_back();
      const RobotJoint& joint = robot_.joints[index];
      if (carries_mass_[joint.child]) {
        open_below(joint.child, add_link(joint, parent));
      } else if (joint.moves()) {
        proto::add_note(notes_, "joint {:?} moves no mass, so it is left out", joint.name);
      }
    }
  }

  /// Adds a joint and its child link, and returns the body that represents the link.
  Carrier add_link(const RobotJoint& joint, const Carrier& parent) {
    const RobotLink& link = robot_.links[joint.child];
    const Carrier below{parent.body, parent.placement * joint.origin};
    Carrier carrier = below;
    if (joint.moves()) {
      carrier = {add_body(link), {}};
      add_joint(joint, below, carrier.body);
    } else if (link.inertial && parent.body != "ground") {
      carrier = {add_body(link), {}};
      const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY();
      text_ += fmt::format("joint {{\n  name: {:?}\n  type: FIXED\n{}{}}}\n", named(joint.name),
                           side("parent", below.body, below.placement.translation,
                                below.placement.rotation * x, below.placement.rotation * y),
                           side("child", carrier.body, Eigen::Vector3d::Zero(), x, y));
    } else if (link.inertial) {
      proto::add_note(notes_, "link {:?} is fixed to the ground: its mass has no effect",
                      link.name);
    }
    return carrier;
  }

  void add_joint(const RobotJoint& joint, const Carrier& parent, const std::string& child) {
    const estimator::JointTraits& is = joint.kind_traits();
    const std::string name = name_of(joint);
    const Eigen::Vector3d zero = joint.is_free() ? Eigen::Vector3d::UnitY() : across(joint.axis);
    const Placement& p = parent.placement;
    text_ += "joint {\n  name: \"" + name + "\"\n" +
             (*joint.kind == estimator::JointKind{}
                  ? ""
                  : std::string("  type: ") + (joint.is_free() ? "FREE" : is.word) + "\n") +
             side("parent", parent.body, p.rotation * joint.at + p.translation,
                  p.rotation * joint.axis, p.rotation * zero) +
             side("child", child, joint.at, joint.axis, zero);
    if (joint.is_free()) {
      text_ += "  encoder { }\n}\n";
      columns_ += fmt::format(
          "  pose {{ joint: {0:?} position: [ \"{0}_x\", \"{0}_y\", \"{0}_z\" ] "
          "quaternion: [ \"{0}_qw\", \"{0}_qx\", \"{0}_qy\", \"{0}_qz\" ] }}\n",
          name);
      return;
    }
    add_friction(joint);
    add_spring(joint);
    add_motor(joint, name);
    if (add_following(joint)) {
      text_ += "}\n";
      return;
    }
    text_ += "  encoder { }\n}\n";
    columns_ += std::string("  ") + is.units.quantity + " { joint: \"" + name + "\" column: \"" +
                name + "\" unit: " + (is.turns ? "RADIAN" : "METER") + " }\n";
    add_safety(joint, name);
  }

  /// Adds the coupling of a mimic joint. A mimic joint gets no encoder and no range, since the
  /// joint that it mimics has both.
  bool add_following(const RobotJoint& joint) {
    if (!joint.follows) return false;
    const MimicCoupling& follows = *joint.follows;
    const RobotJoint& other = *find_joint(follows.joint);
    if (!carries_mass_[other.child]) {
      proto::add_note(notes_,
                      "joint {:?} mimics {:?}, which is left out: it becomes an independent joint",
                      joint.name, follows.joint);
      return false;
    }
    text_ += "  mimic { joint: \"" + name_of(other) + "\" ratio: " + number(follows.ratio) +
             (follows.offset == 0.0 ? "" : " offset: " + number(follows.offset)) + " }\n";
    return true;
  }

  std::vector<RobotJoint>::const_iterator find_joint(const std::string& name) const {
    return std::ranges::find(robot_.joints, name, &RobotJoint::name);
  }

  /// Returns a joint's name in the rig file. A mimic joint may refer to a joint not yet written.
  const std::string& name_of(const RobotJoint& joint) {
    const auto found = joint_names_.find(joint.name);
    return found != joint_names_.end()
               ? found->second
               : joint_names_.emplace(joint.name, named(joint.name)).first->second;
  }

  void add_spring(const RobotJoint& joint) {
    if (joint.stiffness == 0.0) return;
    text_ += "  spring { stiffness { value: " + number(joint.stiffness) + " }";
    if (joint.rest != 0.0) {
      text_ +=
          fmt::format(" {} {{ value: {} }}", joint.kind_traits().rest.name, number(joint.rest));
    }
    text_ += " }\n";
  }

  void add_motor(const RobotJoint& joint, const std::string& name) {
    if (!joint.motor && joint.armature == 0.0) return;
    RobotMotor motor{.control_unit = joint.kind_traits().units.force};
    if (joint.motor) {
      motor = *joint.motor;
    } else {
      proto::add_note(notes_,
                      "joint {:?} has an armature but no motor: recordings need a column "
                      "\"{}_effort\" of zeros",
                      joint.name, name);
    }
    text_ += "  motor { control_unit: \"" + motor.control_unit +
             "\" gain { value: " + number(motor.gain) + " }";
    if (joint.armature != 0.0) {
      text_ += fmt::format(" {} {{ value: {} }}", joint.kind_traits().inertia.name,
                           number(joint.armature));
    }
    if (motor.back_emf != 0.0) text_ += " back_emf { value: " + number(motor.back_emf) + " }";
    if (motor.control_max > 0.0) text_ += " control_max: " + number(motor.control_max);
    text_ += " }\n";
    controls_ += "  control { joint: \"" + name + "\" column: \"" + name + "_effort\" }\n";
  }

  void add_loop(const RobotLoop& loop) {
    const auto& first = carriers_[loop.links[0]];
    const auto& second = carriers_[loop.links[1]];
    if (!first || !second || second->body == "ground") {
      proto::add_note(notes_, "loop {:?} does not connect two bodies: left out", loop.name);
      return;
    }
    const auto end = [&](const char* which, const Carrier& carrier, std::size_t k) {
      const Placement& p = carrier.placement;
      return side(which, carrier.body, p.rotation * loop.points[k] + p.translation,
                  p.rotation * loop.axes[k], p.rotation * across(loop.axes[k]));
    };
    text_ += "joint {\n  name: \"" + named(loop.name) + "\"\n" + end("parent", *first, 0) +
             end("child", *second, 1) + "}\n";
  }

  // Gravity is (0, −g, 0) rotated about a horizontal axis.
  void add_gravity() {
    const Eigen::Vector3d standard(0.0, 0.0, -estimator::kStandardGravity);
    const Eigen::Vector3d g = robot_to_rig_rotation() * robot_.gravity.value_or(standard);
    const double magnitude = g.norm();
    const std::string origin = robot_.gravity ? "as in the MuJoCo model"
                                              : "standard gravity, because a URDF file has none";
    gravity_ = "gravity is " + number(magnitude) + " m/s² (" + origin + ")";
    text_ += "gravity {  # " + origin + "\n  magnitude { value: " + number(magnitude) + " }\n";
    const double level = std::hypot(g.x(), g.z());
    const double angle = std::atan2(level, -g.y());
    if (magnitude > 0.0 && angle > kTiltMost) {
      throw proto::InputError(
          "{}: gravity deviates by more than 86° from −z, the limit of a rig file. "
          "Rotate the model so that z is up",
          choice_.source);
    }
    if (level > 0.0) {
      text_ += "  tilt_x { value: " + number(-angle * g.z() / level) +
               " }\n  tilt_z { value: " + number(angle * g.x() / level) + " }\n";
    }
    text_ += "}\n";
  }

  void add_friction(const RobotJoint& joint) {
    const std::string free = choice_.friction ? " free: true" : "";
    const auto start = [&](double stated, double otherwise) {
      return number(stated > 0.0 || !choice_.friction ? std::max(stated, 0.0) : otherwise);
    };
    const estimator::FrictionParameter& coulomb =
        *estimator::friction_properties(estimator::JointParameter::kCoulombTorque);
    const bool stated = joint.damping > 0.0 || joint.friction > 0.0;
    if (!stated && !choice_.friction) return;
    text_ += fmt::format(
        "  friction {{{0}\n    viscous {{ value: {1}{4} }}\n    {2} {{ value: {3}{4} }}\n  }}\n",
        stated ? "" : "  # zero or missing in the file: initial values",
        start(joint.damping, kViscousStart), coulomb.rig_file_field(!joint.kind_traits().turns),
        start(joint.friction, kDryStart), free);
  }

  void add_safety(const RobotJoint& joint, const std::string& name) {
    std::string limits;
    if (joint.has_finite_range()) {
      const std::string coordinate = std::string(" ") + joint.kind_traits().coordinate_field;
      limits +=
          coordinate + "_min: " + number(joint.lower) + coordinate + "_max: " + number(joint.upper);
    }
    if (joint.velocity > 0.0) {
      limits += fmt::format(" {}_max: {}", joint.kind_traits().rate_field, number(joint.velocity));
    }
    if (!limits.empty()) safety_ += "  joint { joint: \"" + name + "\"" + limits + " }\n";
  }

  const Robot& robot_;
  const RobotConversionOptions& choice_;
  std::string fixed_joints_;
  std::vector<std::vector<std::size_t>> joints_below_;
  std::vector<bool> carries_mass_;                // of each link
  std::vector<std::optional<Carrier>> carriers_;  // of the links already written
  std::set<std::string> names_;
  std::map<std::string, std::string> joint_names_;  // robot's names → rig file's names
  std::string text_, safety_, columns_, controls_, gravity_;
  std::vector<std::string> notes_;
};

}  // namespace

ConvertedRigText convert_robot_to_rig(Robot robot, const RobotConversionOptions& choice) {
  scale_lengths(robot, choice.length_scale);
  scale_inertias(robot, choice.inertia_scale);
  const std::string fixed = select_moving_joints(robot, choice);
  note_probable_units(robot);
  correct_impossible_values(robot);
  if (choice.floating) {
    const std::size_t base = robot.root;
    robot.root = robot.links.size();
    robot.links.push_back({.name = "world", .inertial = {}});
    add_free_joint(robot, robot.root, base, "", 0);
  }
  return RigWriter(robot, choice, fixed).write();
}

Eigen::Matrix3d robot_to_rig_rotation() {
  Eigen::Matrix3d rotation;
  rotation << 1.0, 0.0, 0.0,  //
      0.0, 0.0, 1.0,          //
      0.0, -1.0, 0.0;
  return rotation;
}

std::vector<std::vector<std::size_t>> Robot::find_child_joints() const {
  std::vector<std::vector<std::size_t>> below(links.size());
  for (std::size_t k = 0; k < joints.size(); ++k) below[joints[k].parent].push_back(k);
  return below;
}

std::vector<std::size_t> Robot::find_parent_joints() const {
  std::vector<std::size_t> above(links.size(), joints.size());
  for (std::size_t k = 0; k < joints.size(); ++k) above[joints[k].child] = k;
  return above;
}

JointIndex::JointIndex(const Robot& robot) : robot_(robot) {
  for (std::size_t k = 0; k < robot.joints.size(); ++k) index_.emplace(robot.joints[k].name, k);
}

const RobotJoint* JointIndex::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &robot_.joints[found->second];
}

const RobotJoint* JointIndex::find_mimicked(const RobotJoint& joint) const {
  return joint.follows ? find(joint.follows->joint) : nullptr;
}

bool JointIndex::does_mimic(const RobotJoint& joint, const RobotJoint& other) const {
  const RobotJoint* at = &joint;
  for (std::size_t steps = 0; at != nullptr && steps <= index_.size(); ++steps) {
    if (at == &other) return true;
    at = find_mimicked(*at);
  }
  return false;
}

const RobotJoint& JointIndex::find_independent(const RobotJoint& joint) const {
  const RobotJoint* at = &joint;
  for (std::size_t steps = 0; steps <= index_.size(); ++steps) {
    const RobotJoint* const next = find_mimicked(*at);
    if (next == nullptr) break;
    at = next;
  }
  return *at;
}

void add_free_joint(Robot& robot, std::size_t parent, std::size_t child, const std::string& prefix,
                    int line) {
  robot.joints.push_back({.name = prefix + "free",
                          .kind = estimator::JointKind::kQuaternion,
                          .parent = parent,
                          .child = child,
                          .line = line});
}

}  // namespace service
