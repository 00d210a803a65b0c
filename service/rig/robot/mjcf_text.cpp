#include <Eigen/Geometry>

#include "service/rig/robot/robot.hpp"
#include "service/rig/robot/xml_source.hpp"

namespace service {
namespace {

// Two connected points on the axis make a joint; their distance is of the size of a rig's levers.
constexpr double kSiteDistance = 0.1;  // [m]

std::string list(const Eigen::Vector3d& v) { return format_vector(zero_rounding_errors(v)); }

class MjcfWriter {
 public:
  MjcfWriter(const Robot& robot, const std::vector<std::string>& remarks)
      : robot_(robot), notes_(robot.notes), below_(robot.find_child_joints()) {
    write_xml_comment(xml_, remarks);
  }

  RobotFileText write() {
    open("mujoco");
    push(xml_, "model", robot_.name.empty() ? "robot" : robot_.name);
    write_xml_element(xml_, "compiler", {{"angle", "radian"}});
    if (robot_.gravity) write_xml_element(xml_, "option", {{"gravity", list(*robot_.gravity)}});
    open("worldbody");
    write_sites(robot_.root);
    for (const std::size_t joint : below_[robot_.root]) write_body(joint);
    xml_.CloseElement();
    write_actuators();
    write_constraints();
    xml_.CloseElement();
    return {xml_.CStr(), std::move(notes_)};
  }

 private:
  void open(const char* element) { xml_.OpenElement(element); }

  /// Joint of a MuJoCo body, which may be the joint of a massless link that carries the body.
  struct BodyJoint {
    const RobotJoint* joint;
    Eigen::Vector3d axis, at;  ///< direction and point of the axis, in the frame of the body
  };

  /// Returns the joints in series from `first` to the next link that has mass or branches.
  std::vector<std::size_t> joints_to_body(std::size_t first) const {
    std::vector<std::size_t> chain = {first};
    for (;;) {
      const std::size_t link = robot_.joints[chain.back()].child;
      if (robot_.links[link].inertial || below_[link].size() != 1) return chain;
      chain.push_back(below_[link].front());
    }
  }

  void write_body(std::size_t first) {
    const std::vector<std::size_t> chain = joints_to_body(first);
    Placement inner;  // the body's frame in the current link's
    std::vector<BodyJoint> joints;
    for (std::size_t k = chain.size(); k-- > 0;) {
      const RobotJoint& joint = robot_.joints[chain[k]];
      if (joint.moves()) {
        const Placement outer = inner.inverse();
        joints.insert(joints.begin(), {&joint, outer.rotation * joint.axis,
                                       outer.rotation * joint.at + outer.translation});
      }
      inner = joint.origin * inner;
    }
    const std::size_t link = robot_.joints[chain.back()].child;
    open("body");
    push(xml_, "name", robot_.links[link].name);
    write_placement(inner);
    for (const BodyJoint& joint : joints) write_joint(joint);
    write_inertial(link, !joints.empty());
    write_sites(link);
    for (const std::size_t next : below_[link]) write_body(next);
    xml_.CloseElement();
  }

  void write_placement(const Placement& placement) {
    const Eigen::Vector3d position = zero_rounding_errors(placement.translation);
    if (!position.isZero(0.0)) push(xml_, "pos", format_vector(position));
    if (placement.rotation.isIdentity(0.0)) return;
    Eigen::Quaterniond q(placement.rotation);
    if (q.w() < 0.0) q.coeffs() = -q.coeffs();
    const Eigen::VectorXd c = zero_rounding_errors(q.coeffs());
    if (c(0) != 0.0 || c(1) != 0.0 || c(2) != 0.0) {
      push(xml_, "quat", format_number_list({c(3), c(0), c(1), c(2)}));
    }
  }

  void write_inertial(std::size_t k, bool moves) {
    const RobotLink& link = robot_.links[k];
    if (!link.inertial) {
      if (moves) {
        proto::add_note(notes_,
                        "body {:?} moves, has no mass and carries {}, which MuJoCo does not "
                        "accept. Give the body a mass in the rig file",
                        link.name, below_[k].empty() ? "nothing" : "several bodies");
      }
      return;
    }
    const Eigen::Matrix3d& J = link.inertial->inertia;
    const bool diagonal = J.isDiagonal(0.0);
    write_xml_element(
        xml_, "inertial",
        {{"pos", list(link.inertial->center)},
         {"mass", format_number_list({link.inertial->mass})},
         {diagonal ? "diaginertia" : "fullinertia",
          diagonal ? format_vector(J.diagonal())
                   : format_number_list({J(0, 0), J(1, 1), J(2, 2), J(0, 1), J(0, 2), J(1, 2)})}});
  }

  void write_joint(const BodyJoint& placed) {
    const RobotJoint& joint = *placed.joint;
    if (joint.is_free()) {
      open("freejoint");
      xml_.CloseElement();
      return;
    }
    open("joint");
    push(xml_, "name", joint.name);
    xml_.PushAttribute("type", joint.kind_traits().mjcf);
    if (const Eigen::Vector3d at = zero_rounding_errors(placed.at); !at.isZero(0.0)) {
      push(xml_, "pos", format_vector(at));
    }
    push(xml_, "axis", list(placed.axis));
    const auto stated = [&](const char* attribute, double value) {
      if (value != 0.0) push(xml_, attribute, value);
    };
    stated("damping", joint.damping);
    stated("frictionloss", joint.friction);
    stated("armature", joint.armature);
    stated("stiffness", joint.stiffness);
    if (joint.stiffness != 0.0) stated("springref", joint.rest);
    if (joint.has_finite_range())
      push(xml_, "range", format_number_list({joint.lower, joint.upper}));
    xml_.CloseElement();
    if (joint.velocity > 0.0) speeds_ += (speeds_.empty() ? "\"" : ", \"") + joint.name + "\"";
  }

  /// Writes the points at which loop-closing joints connect this link to another link.
  void write_sites(std::size_t link) {
    for (const RobotLoop& loop : robot_.loops) {
      for (std::size_t side = 0; side < 2; ++side) {
        if (loop.links[side] != link) continue;
        for (int end = 0; end < 2; ++end) {
          write_xml_element(
              xml_, "site",
              {{"name", site_name(loop, side, end)},
               {"pos", list(loop.points[side] + end * kSiteDistance * loop.axes[side])}});
        }
      }
    }
  }

  static std::string site_name(const RobotLoop& loop, std::size_t side, int end) {
    return loop.name + (side == 0 ? "_a" : "_b") + std::to_string(end + 1);
  }

  void write_actuators() {
    bool is_open = false;
    for (const RobotJoint& joint : robot_.joints) {
      if (!joint.motor || !joint.moves()) continue;
      if (!is_open) open("actuator");
      is_open = true;
      const RobotMotor& motor = *joint.motor;
      open(motor.back_emf == 0.0 ? "motor" : "general");
      push(xml_, "name", joint.name + "_motor");
      push(xml_, "joint", joint.name);
      if (motor.back_emf == 0.0) {
        push(xml_, "gear", motor.gain);
      } else {
        push(xml_, "gainprm", motor.gain);
        xml_.PushAttribute("biastype", "affine");
        push(xml_, "biasprm", format_number_list({0.0, 0.0, -motor.gain * motor.back_emf}));
      }
      if (motor.control_max > 0.0) {
        push(xml_, "ctrlrange", format_number_list({-motor.control_max, motor.control_max}));
      }
      xml_.CloseElement();
    }
    if (is_open) xml_.CloseElement();
    if (!speeds_.empty()) {
      proto::add_note(
          notes_,
          "the speed limits of {} are left out, because a MuJoCo model cannot represent them",
          speeds_);
    }
  }

  void write_constraints() {
    const auto follows = [](const RobotJoint& joint) { return joint.follows.has_value(); };
    if (robot_.loops.empty() && std::ranges::none_of(robot_.joints, follows)) return;
    open("equality");
    for (const RobotJoint& joint : robot_.joints) {
      if (!joint.follows) continue;
      write_xml_element(xml_, "joint",
                        {{"joint1", joint.name},
                         {"joint2", joint.follows->joint},
                         {"polycoef", format_number_list({joint.follows->offset,
                                                          joint.follows->ratio, 0.0, 0.0, 0.0})}});
    }
    for (const RobotLoop& loop : robot_.loops) {
      for (int end = 0; end < 2; ++end) {
        write_xml_element(xml_, "connect",
                          {{"name", loop.name + "_" + std::to_string(end + 1)},
                           {"site1", site_name(loop, 0, end)},
                           {"site2", site_name(loop, 1, end)}});
      }
    }
    xml_.CloseElement();
  }

  const Robot& robot_;
  std::vector<std::string> notes_;
  std::vector<std::vector<std::size_t>> below_;
  std::string speeds_;
  tinyxml2::XMLPrinter xml_;
};

}  // namespace

RobotFileText format_mjcf(const Robot& robot, const std::vector<std::string>& remarks) {
  return MjcfWriter(robot, remarks).write();
}

}  // namespace service
