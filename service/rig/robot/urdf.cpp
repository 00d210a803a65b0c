#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <map>

#include "estimator/model/sensor.hpp"
#include "proto/notation/number_format.hpp"
#include "service/rig/robot/robot.hpp"
#include "service/rig/robot/xml_source.hpp"

namespace service {
namespace {

using tinyxml2::XMLElement;

constexpr double kUnbounded = 1e4;  // [rad] or [m]
// Lighter links are markers with a nominal mass for simulators.
constexpr double kMassLeast = 1e-6;  // [kg]
constexpr const char* kWorld = "world";
constexpr const char* kTree = "A URDF must be a tree (describe closed loops in a rig file)";

/// Reader of a URDF file. Error messages give the name of the file and the line.
class UrdfReader {
 public:
  UrdfReader(const std::string& path, const std::string& text) : xml_(path, text) {}

  Robot read() {
    const XMLElement* const root = xml_.root();
    if (root == nullptr || std::string_view(root->Name()) != "robot") {
      xml_.fail(
          root == nullptr ? 1 : root->GetLineNum(),
          "has no <robot> element. Give a URDF file (for a .xacro file, the output of xacro) or a "
          "MuJoCo model");
    }
    refuse_macros(*root);
    Robot robot;
    if (const char* const name = root->Attribute("name")) robot.name = name;
    for (const auto* e = root->FirstChildElement("link"); e; e = e->NextSiblingElement("link")) {
      read_link(*e, robot);
    }
    if (robot.links.empty()) xml_.fail(root->GetLineNum(), "the robot has no <link>");
    add_world(*root, robot);
    for (const auto* e = root->FirstChildElement("joint"); e; e = e->NextSiblingElement("joint")) {
      read_joint(*e, robot);
    }
    hold_what_cannot_follow(robot);
    find_root(*root, robot);
    return robot;
  }

 private:
  void refuse_macros(const XMLElement& root) const {
    for (const auto* e = root.FirstChildElement(); e; e = e->NextSiblingElement()) {
      if (std::string_view(e->Name()).starts_with("xacro:")) {
        xml_.fail(*e, "<{}> is a macro. Give the output of xacro", e->Name());
      }
    }
  }

  /// Returns the pose that an origin element gives. Roll, pitch and yaw are rotations about the
  /// fixed x, y and z axes, in this order.
  Placement read_placement(const XMLElement* origin) const {
    const Eigen::Vector3d rpy = xml_.vector_or_default(origin, "rpy", Eigen::Vector3d::Zero());
    Placement placement;
    placement.rotation = (Eigen::AngleAxisd(rpy.z(), Eigen::Vector3d::UnitZ()) *
                          Eigen::AngleAxisd(rpy.y(), Eigen::Vector3d::UnitY()) *
                          Eigen::AngleAxisd(rpy.x(), Eigen::Vector3d::UnitX()))
                             .toRotationMatrix();
    placement.translation = xml_.vector_or_default(origin, "xyz", Eigen::Vector3d::Zero());
    return placement;
  }

  void read_link(const XMLElement& element, Robot& robot) {
    if (robot.links.size() >= kRobotLinksMax) xml_.fail(element, kTooManyLinks);
    RobotLink link{.name = xml_.required_attribute(element, "name", "link"), .inertial = {}};
    if (!links_.emplace(link.name, robot.links.size()).second) {
      xml_.fail(element, "link {:?} is defined twice", link.name);
    }
    if (const auto* const inertial = element.FirstChildElement("inertial")) {
      const double mass = xml_.number_or_default(inertial->FirstChildElement("mass"), "value", 0.0);
      if (mass < 0.0) {
        xml_.fail(*inertial, "link {:?} has a negative mass", link.name);
      }
      const RobotInertial read = read_inertial(*inertial, mass);
      if (mass > kMassLeast) {
        link.inertial = read;
      } else if (!read.inertia.isZero(0.0)) {
        proto::add_note(robot.notes,
                        "link {:?} has moments of inertia but no mass, so they are left out",
                        link.name);
      }
    }
    robot.links.push_back(std::move(link));
  }

  /// Adds the link "world" if the file does not define it although joints name it as their parent.
  void add_world(const XMLElement& root, Robot& robot) {
    if (links_.contains(kWorld)) return;
    for (const auto* e = root.FirstChildElement("joint"); e; e = e->NextSiblingElement("joint")) {
      const auto* const parent = e->FirstChildElement("parent");
      const char* const link = parent == nullptr ? nullptr : parent->Attribute("link");
      if (link == nullptr || std::string_view(link) != kWorld) continue;
      links_.emplace(kWorld, robot.links.size());
      robot.links.push_back({.name = kWorld, .inertial = {}});
      return;
    }
  }

  RobotInertial read_inertial(const XMLElement& element, double mass) const {
    const Placement frame = read_placement(element.FirstChildElement("origin"));
    const auto* const i = element.FirstChildElement("inertia");
    Eigen::Matrix3d matrix;
    const double xy = xml_.number_or_default(i, "ixy", 0.0),
                 xz = xml_.number_or_default(i, "ixz", 0.0),
                 yz = xml_.number_or_default(i, "iyz", 0.0);
    matrix << xml_.number_or_default(i, "ixx", 0.0), xy, xz,  //
        xy, xml_.number_or_default(i, "iyy", 0.0), yz,        //
        xz, yz, xml_.number_or_default(i, "izz", 0.0);
    return {.mass = mass,
            .center = frame.translation,
            .inertia = frame.rotation * matrix * frame.rotation.transpose()};
  }

  std::size_t link_of(const XMLElement& joint, const char* side, const std::string& name) const {
    const auto* const element = joint.FirstChildElement(side);
    if (element == nullptr) {
      xml_.fail(joint, "joint {:?} has no <{} link=\"...\">", name, side);
    }
    const std::string link = xml_.required_attribute(*element, "link", side);
    const auto found = links_.find(link);
    if (found == links_.end()) {
      xml_.fail(*element, "joint {:?} refers to link {:?}, which is not in the file", name, link);
    }
    return found->second;
  }

  std::optional<estimator::JointKind> kind_of(const XMLElement& element,
                                              const std::string& name) const {
    const std::string type = xml_.required_attribute(element, "type", "joint");
    if (type == "fixed") return std::nullopt;
    for (const estimator::JointTraits& each : estimator::kJointKinds) {
      if (type == each.urdf || (each.wraps && type == "continuous")) return each.kind;
    }
    xml_.fail(element,
              "joint {:?} has the type {}. Supported types are revolute, continuous, "
              "prismatic and fixed",
              name, type);
  }

  void read_joint(const XMLElement& element, Robot& robot) {
    // A tree has fewer joints than links.
    if (robot.joints.size() >= kRobotLinksMax) xml_.fail(element, kTooManyLinks);
    RobotJoint joint;
    joint.name = xml_.required_attribute(element, "name", "joint");
    joint.line = element.GetLineNum();
    if (!joints_.emplace(joint.name, joint.line).second) {
      xml_.fail(joint.line, "joint {:?} is defined twice", joint.name);
    }
    joint.kind = kind_of(element, joint.name);
    joint.parent = link_of(element, "parent", joint.name);
    joint.child = link_of(element, "child", joint.name);
    joint.origin = read_placement(element.FirstChildElement("origin"));
    joint.axis =
        xml_.vector_or_default(element.FirstChildElement("axis"), "xyz", Eigen::Vector3d::UnitX());
    if (joint.kind && !(joint.axis.norm() > 1e-9)) {
      xml_.fail(joint.line, "joint {:?} has a zero axis", joint.name);
    }
    joint.axis.normalize();
    const auto* const limit = element.FirstChildElement("limit");
    if (limit != nullptr && std::string_view(element.Attribute("type")) != "continuous") {
      // An unreachable limit means that there is none.
      constexpr double kInfinite = std::numeric_limits<double>::infinity();
      const double lower = xml_.limit_or_default(limit, "lower", 0.0);
      const double upper = xml_.limit_or_default(limit, "upper", 0.0);
      joint.lower = lower > -kUnbounded ? lower : -kInfinite;
      joint.upper = upper < kUnbounded ? upper : kInfinite;
    }
    if (const double effort = xml_.limit_or_default(limit, "effort", 0.0);
        joint.kind && effort != 0.0) {
      joint.motor = {.control_unit = joint.kind_traits().units.force,
                     .control_max = finite_or_zero(effort)};
    }
    joint.velocity = finite_or_zero(xml_.limit_or_default(limit, "velocity", 0.0));
    const auto* const dynamics = element.FirstChildElement("dynamics");
    joint.damping = xml_.number_or_default(dynamics, "damping", 0.0);
    joint.friction = xml_.number_or_default(dynamics, "friction", 0.0);
    if (const auto* const mimic = element.FirstChildElement("mimic")) {
      joint.follows = {.joint = xml_.required_attribute(*mimic, "joint", "mimic"),
                       .ratio = xml_.number_or_default(mimic, "multiplier", 1.0),
                       .offset = xml_.number_or_default(mimic, "offset", 0.0)};
      joint.motor.reset();  // the motor drives the mimicked joint
    }
    robot.joints.push_back(std::move(joint));
  }

  /// Returns the limit of an effort or a speed; 0, which stands for unknown, if it is infinite.
  static double finite_or_zero(double limit) { return std::isfinite(limit) ? limit : 0.0; }

  /// Returns why a joint cannot mimic the joint that its mimic element names; empty if it can.
  static std::string obstacle(const JointIndex& index, const RobotJoint& joint) {
    const RobotJoint* const other = index.find(joint.follows->joint);
    if (other == nullptr) return ", which is not a joint of the file";
    if (!other->kind) return ", which is fixed";
    if (index.does_mimic(*other, joint)) return ", which mimics it in turn";
    return joint.follows->ratio == 0.0 ? " times 0" : "";
  }

  /// Fixes mimic joints at zero that cannot mimic another joint, and joints that mimic fixed ones.
  static void hold_what_cannot_follow(Robot& robot) {
    const JointIndex index(robot);
    std::map<std::string, std::vector<RobotJoint*>> mimics;  // by the name of the mimicked joint
    std::vector<RobotJoint*> open;
    for (RobotJoint& joint : robot.joints) {
      if (!joint.follows) continue;
      mimics[joint.follows->joint].push_back(&joint);
      open.push_back(&joint);
    }
    std::ranges::reverse(open);  // in the order of the file
    while (!open.empty()) {
      RobotJoint& joint = *open.back();
      open.pop_back();
      const std::string why = joint.follows ? obstacle(index, joint) : "";
      if (why.empty()) continue;
      proto::add_note(robot.notes, "joint {:?} mimics {:?}{}, so it is fixed at zero", joint.name,
                      joint.follows->joint, why);
      joint.kind.reset();
      joint.follows.reset();
      const auto found = mimics.find(joint.name);
      if (found != mimics.end())
        open.insert(open.end(), found->second.begin(), found->second.end());
    }
  }

  /// Finds the root link and checks that every other link has exactly one parent joint.
  void find_root(const XMLElement& element, Robot& robot) const {
    std::vector<const RobotJoint*> above(robot.links.size(), nullptr);
    for (const RobotJoint& joint : robot.joints) {
      if (above[joint.child] != nullptr) {
        xml_.fail(joint.line, "link {:?} is the child of two joints, {:?} and {:?}. {}",
                  robot.links[joint.child].name, above[joint.child]->name, joint.name, kTree);
      }
      above[joint.child] = &joint;
    }
    std::vector<std::size_t> roots;
    for (std::size_t k = 0; k < above.size(); ++k) {
      if (above[k] == nullptr) roots.push_back(k);
    }
    if (roots.size() > 1) {
      xml_.fail(element, "links {:?} and {:?} both have no parent. A URDF must be one tree",
                robot.links[roots[0]].name, robot.links[roots[1]].name);
    }
    for (std::size_t k = 0; k < above.size(); ++k) {
      std::size_t at = k, steps = 0;
      while (above[at] != nullptr && steps++ <= above.size()) at = above[at]->parent;
      if (above[at] != nullptr) {
        xml_.fail(above[k]->line, "joint {:?} is part of a cycle of joints. {}", above[k]->name,
                  kTree);
      }
    }
    robot.root = roots.front();
  }

  XmlSource xml_;
  std::map<std::string, std::size_t> links_;
  std::map<std::string, int> joints_;
};

/// Returns roll, pitch and yaw of a rotation. Near a pitch of ± 90° only the sum or difference of
/// roll and yaw is determined, but the three angles together still give the rotation accurately.
Eigen::Vector3d roll_pitch_yaw(const Eigen::Matrix3d& R) {
  const double yaw = std::atan2(R(1, 0), R(0, 0));
  const double c = std::cos(yaw), s = std::sin(yaw);
  const double pitch = std::atan2(-R(2, 0), c * R(0, 0) + s * R(1, 0));
  const double roll = std::atan2(s * R(0, 2) - c * R(1, 2), c * R(1, 1) - s * R(0, 1));
  return {roll, pitch, yaw};
}

class UrdfWriter {
 public:
  UrdfWriter(const Robot& robot, const std::vector<std::string>& remarks)
      : robot_(robot), notes_(robot.notes), shifts_(robot.links.size(), Eigen::Vector3d::Zero()) {
    for (const RobotJoint& joint : robot.joints) shifts_[joint.child] = joint.at;
    xml_.PushHeader(false, true);
    write_xml_comment(xml_, remarks);
  }

  RobotFileText write() {
    xml_.OpenElement("robot");
    push(xml_, "name", robot_.name.empty() ? "robot" : robot_.name);
    const bool floats = is_base_free();
    for (std::size_t k = 0; k < robot_.links.size(); ++k) {
      if (!floats || k != robot_.root) write_link(k);
    }
    for (const RobotJoint& joint : robot_.joints) {
      if (!joint.is_free()) write_joint(joint);
    }
    xml_.CloseElement();
    note_nowhere();
    return {xml_.CStr(), std::move(notes_)};
  }

 private:
  /// Returns whether the robot has a free base, which is the root link of a URDF file.
  bool is_base_free() const {
    const bool floats = std::ranges::any_of(robot_.joints, &RobotJoint::is_free);
    if (floats && std::ranges::count(robot_.joints, robot_.root, &RobotJoint::parent) > 1) {
      throw proto::InputError(
          "a URDF file has one tree of links, so it cannot contain a FREE joint beside other "
          "joints "
          "to the ground. Export to MJCF");
    }
    return floats;
  }

  void write_origin(const Eigen::Vector3d& at, const Eigen::Vector3d& angles) {
    const Eigen::Vector3d xyz = zero_rounding_errors(at), rpy = zero_rounding_errors(angles);
    if (xyz.isZero(0.0) && rpy.isZero(0.0)) return;
    xml_.OpenElement("origin");
    push(xml_, "xyz", format_vector(xyz));
    if (!rpy.isZero(0.0)) push(xml_, "rpy", format_vector(rpy));
    xml_.CloseElement();
  }

  void write_link(std::size_t k) {
    const RobotLink& link = robot_.links[k];
    xml_.OpenElement("link");
    push(xml_, "name", link.name);
    if (link.inertial) {
      const RobotInertial& inertial = *link.inertial;
      xml_.OpenElement("inertial");
      write_origin(inertial.center - shifts_[k], Eigen::Vector3d::Zero());
      write_xml_element(xml_, "mass", {{"value", format_number_list({inertial.mass})}});
      xml_.OpenElement("inertia");
      const char* const names[3][3] = {{"ixx", "ixy", "ixz"}, {"", "iyy", "iyz"}, {"", "", "izz"}};
      for (int i = 0; i < 3; ++i) {
        for (int j = i; j < 3; ++j) push(xml_, names[i][j], inertial.inertia(i, j));
      }
      xml_.CloseElement();
      xml_.CloseElement();
    }
    xml_.CloseElement();
  }

  void write_joint(const RobotJoint& joint) {
    xml_.OpenElement("joint");
    push(xml_, "name", joint.name);
    xml_.PushAttribute("type", !joint.kind ? "fixed"
                               : joint.kind_traits().wraps && !joint.has_finite_range()
                                   ? "continuous"
                                   : joint.kind_traits().urdf);
    // The child's frame is on the axis.
    write_origin(
        joint.origin.rotation * joint.at + joint.origin.translation - shifts_[joint.parent],
        roll_pitch_yaw(joint.origin.rotation));
    write_xml_element(xml_, "parent", {{"link", robot_.links[joint.parent].name}});
    write_xml_element(xml_, "child", {{"link", robot_.links[joint.child].name}});
    if (joint.kind) {
      write_xml_element(xml_, "axis", {{"xyz", format_vector(zero_rounding_errors(joint.axis))}});
      write_limit(joint);
      if (joint.damping != 0.0 || joint.friction != 0.0) {
        write_xml_element(xml_, "dynamics",
                          {{"damping", format_number_list({joint.damping})},
                           {"friction", format_number_list({joint.friction})}});
      }
      if (joint.follows) {
        write_xml_element(xml_, "mimic",
                          {{"joint", joint.follows->joint},
                           {"multiplier", format_number_list({joint.follows->ratio})},
                           {"offset", format_number_list({joint.follows->offset})}});
      }
      note_joint(joint);
    }
    xml_.CloseElement();
  }

  void write_limit(const RobotJoint& joint) {
    const double effort =
        joint.motor ? std::abs(joint.motor->gain) * joint.motor->control_max : 0.0;
    const bool needs_range = !joint.kind_traits().wraps;
    if (!needs_range && !joint.has_finite_range() && effort == 0.0 && joint.velocity == 0.0) return;
    xml_.OpenElement("limit");
    if (joint.has_finite_range()) {
      push(xml_, "lower", joint.lower);
      push(xml_, "upper", joint.upper);
    } else if (needs_range) {
      constexpr double kAnywhere = 1e4;  // a prismatic joint must have a range [m]
      push(xml_, "lower", -kAnywhere);
      push(xml_, "upper", kAnywhere);
    }
    // Both attributes are required; 0: unknown.
    push(xml_, "effort", effort);
    push(xml_, "velocity", joint.velocity);
    xml_.CloseElement();
  }

  void note_joint(const RobotJoint& joint) {
    const auto left_out = [&](double value, const std::string& unit, const std::string& what) {
      proto::add_note(notes_,
                      "joint {:?}: {} ({} {}) is left out, because a URDF file cannot represent it",
                      joint.name, what, notation::format_exact(value), unit);
    };
    const estimator::JointUnits& units = joint.kind_traits().units;
    const std::string force = units.force;
    if (joint.armature != 0.0) {
      left_out(joint.armature, units.inertia, "the inertia of the motor's shaft");
    }
    if (joint.stiffness != 0.0) {
      left_out(joint.stiffness, units.stiffness, "the stiffness of its spring");
    }
    if (!joint.motor) return;
    const RobotMotor& motor = *joint.motor;
    if (motor.control_unit != force) {
      left_out(motor.gain, force + "/" + motor.control_unit, "the gain of its motor");
    } else if (motor.gain != 1.0) {
      left_out(motor.gain, "", "the gain of its motor");
    }
    if (motor.back_emf != 0.0) {
      left_out(motor.back_emf, motor.control_unit + "·s/" + units.coordinate,
               "the motor's back EMF");
    }
  }

  void note_nowhere() {
    for (const RobotLoop& loop : robot_.loops) {
      proto::add_note(
          notes_,
          "joint {:?} closes a loop, which a URDF file cannot represent. The joint is left out, "
          "so the loop is open",
          loop.name);
    }
    if (!robot_.gravity) return;
    const Eigen::Vector3d& g = *robot_.gravity;
    const bool is_tilted = !g.head<2>().isZero(0.0) || g.z() > 0.0;
    if (!is_tilted && g.z() == -estimator::kStandardGravity) return;
    proto::add_note(
        notes_,
        "gravity ({} m/s²) is {}, which a URDF file cannot represent, so gravity is left out",
        format_vector(g), is_tilted ? "tilted" : "not standard gravity");
  }

  const Robot& robot_;
  std::vector<std::string> notes_;
  std::vector<Eigen::Vector3d> shifts_;  // from each link's frame to the axis of its joint
  tinyxml2::XMLPrinter xml_;
};

}  // namespace

Robot parse_robot(const std::string& path, const std::string& text) {
  const auto is_mujoco = [&] {
    const XmlSource xml(path, text);
    return xml.root() != nullptr && std::string_view(xml.root()->Name()) == "mujoco";
  };
  return is_mujoco() ? parse_mjcf(path, text) : parse_urdf(path, text);
}

Robot parse_urdf(const std::string& path, const std::string& text) {
  return UrdfReader(path, text).read();
}

RobotFileText format_urdf(const Robot& robot, const std::vector<std::string>& remarks) {
  return UrdfWriter(robot, remarks).write();
}

}  // namespace service
