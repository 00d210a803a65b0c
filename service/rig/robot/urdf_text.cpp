#include <cmath>

#include "proto/notation/number_format.hpp"
#include "service/rig/robot/robot.hpp"
#include "service/rig/robot/xml_source.hpp"

namespace service {
namespace {

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
    push_comment(xml_, remarks);
  }

  RobotText write() {
    xml_.OpenElement("robot");
    push(xml_, "name", robot_.name.empty() ? "robot" : robot_.name);
    for (std::size_t k = 0; k < robot_.links.size(); ++k) write_link(k);
    for (const RobotJoint& joint : robot_.joints) write_joint(joint);
    xml_.CloseElement();
    note_nowhere();
    return {xml_.CStr(), std::move(notes_)};
  }

 private:
  void write_origin(const Eigen::Vector3d& at, const Eigen::Vector3d& angles) {
    const Eigen::Vector3d xyz = with_exact_zeros(at), rpy = with_exact_zeros(angles);
    if (xyz.isZero(0.0) && rpy.isZero(0.0)) return;
    xml_.OpenElement("origin");
    push(xml_, "xyz", vector_text(xyz));
    if (!rpy.isZero(0.0)) push(xml_, "rpy", vector_text(rpy));
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
      push_element(xml_, "mass", {{"value", number_list({inertial.mass})}});
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
    xml_.PushAttribute("type", !joint.kind                                  ? "fixed"
                               : joint.traits().wraps && !joint.has_range() ? "continuous"
                                                                            : joint.traits().urdf);
    // The child's frame is on the axis.
    write_origin(
        joint.origin.rotation * joint.at + joint.origin.translation - shifts_[joint.parent],
        roll_pitch_yaw(joint.origin.rotation));
    push_element(xml_, "parent", {{"link", robot_.links[joint.parent].name}});
    push_element(xml_, "child", {{"link", robot_.links[joint.child].name}});
    if (joint.kind) {
      push_element(xml_, "axis", {{"xyz", vector_text(with_exact_zeros(joint.axis))}});
      write_limit(joint);
      if (joint.damping != 0.0 || joint.friction != 0.0) {
        push_element(xml_, "dynamics",
                     {{"damping", number_list({joint.damping})},
                      {"friction", number_list({joint.friction})}});
      }
      if (joint.follows) {
        push_element(xml_, "mimic",
                     {{"joint", joint.follows->joint},
                      {"multiplier", number_list({joint.follows->ratio})},
                      {"offset", number_list({joint.follows->offset})}});
      }
      note_joint(joint);
    }
    xml_.CloseElement();
  }

  void write_limit(const RobotJoint& joint) {
    const double effort =
        joint.motor ? std::abs(joint.motor->gain) * joint.motor->control_max : 0.0;
    const bool needs_range = !joint.traits().wraps;
    if (!needs_range && !joint.has_range() && effort == 0.0 && joint.velocity == 0.0) return;
    xml_.OpenElement("limit");
    if (joint.has_range()) {
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
      notes_.push_back("joint \"" + joint.name + "\": " + what + " (" +
                       notation::format_exact(value) + " " + unit +
                       ") cannot be represented in a URDF file: left out");
    };
    const estimator::JointUnits& units = joint.traits().units;
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
      notes_.push_back(
          "joint \"" + loop.name +
          "\" closes a loop, which a URDF cannot represent: left out, so the loop is open");
    }
    if (!robot_.gravity) return;
    const Eigen::Vector3d& g = *robot_.gravity;
    if (g.head<2>().isZero(0.0) && g.z() <= 0.0) return;
    notes_.push_back("gravity (" + vector_text(g) +
                     " m/s²) is tilted, which a URDF cannot represent: left out");
  }

  const Robot& robot_;
  std::vector<std::string> notes_;
  std::vector<Eigen::Vector3d> shifts_;  // from each link's frame to the axis of its joint
  tinyxml2::XMLPrinter xml_;
};

}  // namespace

RobotText urdf_text(const Robot& robot, const std::vector<std::string>& remarks) {
  return UrdfWriter(robot, remarks).write();
}

}  // namespace service
