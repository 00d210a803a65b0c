#include "service/rig/robot/robot.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "estimator/model/encoder.hpp"
#include "estimator/model/inertia/inertia_parameterization.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/moments.hpp"
#include "estimator/model/placement.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "proto/notation/number_format.hpp"
#include "proto/text/input_error.hpp"

namespace service {
namespace {

using estimator::BodyParameter;
using estimator::Joint;
using estimator::JointParameter;
using estimator::Mechanism;

constexpr double kSeenShare = 1e-9;  // largest relative change of an identifiable moment

/// Joint properties that robot descriptions cannot represent.
constexpr struct {
  JointParameter quantity;
  const char* what;
} kNowhere[] = {
    {JointParameter::kQuadraticDrag, "drag with the square of the speed"},
    {JointParameter::kStribeckTorque, "friction that falls with speed (Stribeck)"},
    {JointParameter::kLoadFriction, "friction that grows with the force in the bearing"},
    {JointParameter::kLoadFrictionAngular, "friction that grows with the moment in the bearing"},
    {estimator::friction_law_parameter<estimator::Makkar>(estimator::Makkar::kExcess),
     "smooth friction, its excess at rest"},
    {estimator::friction_law_parameter<estimator::Makkar>(estimator::Makkar::kCoulomb),
     "smooth friction"},
    {JointParameter::kConstantTorque, "a constant torque or force"},
    {JointParameter::kInputDelay, "a delay of the control"},
    {JointParameter::kEncoderOffset, "an encoder's offset"},
    {JointParameter::kEncoderDelay, "an encoder's delay"},
    {JointParameter::kEncoderSine1, "a periodic error of an encoder"},
    {JointParameter::kEncoderCosine1, "a periodic error of an encoder"},
    {JointParameter::kEncoderSine2, "a periodic error of an encoder"},
    {JointParameter::kEncoderCosine2, "a periodic error of an encoder"},
    {JointParameter::kCoggingSine, "a cogging torque"},
    {JointParameter::kCoggingCosine, "a cogging torque"},
    {JointParameter::kGainDrift, "a drifting motor gain"},
    {JointParameter::kGainSag, "a motor gain that depends on the control"},
    {JointParameter::kFrictionDrift, "drifting friction"},
    {JointParameter::kSpringPlay, "a spring's play"}};

/// Body of a joint, with the joint frame and the joint's point relative to the centre of mass.
struct Side {
  int body;
  Eigen::Matrix3d frame;
  Eigen::Vector3d point;
};

class RobotBuilder {
 public:
  explicit RobotBuilder(const Rig& rig) : rig_(rig), mechanism_(rig.mechanism) {}

  Robot build() {
    for (const Joint& joint : mechanism_.joints) {
      const bool is_base = joint.type == Joint::Type::kFree && joint.body_a == Joint::kGround;
      if (!joint.is_compound() || is_base) continue;
      throw proto::InputError(
          "{}: joint {:?} turns about all axes. An export to URDF or MJCF supports such a joint "
          "only "
          "if it is FREE and its parent is the ground",
          rig_.path, compound_name(joint));
    }
    robot_.name = mechanism_.name;
    std::set<std::string> taken;
    for (const estimator::Body& body : mechanism_.bodies) taken.insert(body.name);
    std::string world = "world";
    for (int k = 2; taken.contains(world); ++k) world = "world_" + std::to_string(k);
    robot_.links.push_back({.name = world, .inertial = {}});
    for (int body = 0; body < mechanism_.body_count(); ++body) add_link(body);
    std::set<int> joints_in_tree, welds_in_tree;
    for (const estimator::DirectedJoint& edge : estimator::spanning_tree(mechanism_)) {
      (edge.weld ? welds_in_tree : joints_in_tree).insert(edge.joint);
      add_joint(edge);
    }
    for (int joint = 0; joint < mechanism_.joint_count(); ++joint) {
      if (mechanism_.joints[static_cast<std::size_t>(joint)].place > 0) continue;
      if (!joints_in_tree.contains(joint)) add_loop(joint);
      note_nowhere(joint);
    }
    leave_out_following(joints_in_tree);
    for (int weld = 0; weld < mechanism_.fixed_joint_count(); ++weld) {
      if (welds_in_tree.contains(weld)) continue;
      proto::add_note(robot_.notes, "fixed joint {:?} closes a loop and is left out",
                      mechanism_.fixed_joints[static_cast<std::size_t>(weld)].name);
    }
    for (const estimator::BodyEncoder& encoder : mechanism_.body_encoders) {
      proto::add_note(robot_.notes, "encoder {:?} does not measure a single joint and is left out",
                      encoder.name);
    }
    for (const estimator::Sensor& sensor : mechanism_.sensors) {
      proto::add_note(robot_.notes, "sensor {:?} cannot be represented and is left out",
                      sensor.name);
    }
    robot_.gravity = robot_to_rig_rotation().transpose() * estimator::gravity_vector(mechanism_);
    return std::move(robot_);
  }

 private:
  static std::size_t link_of(int body) { return static_cast<std::size_t>(body + 1); }
  double value(int joint, JointParameter quantity) const {
    return mechanism_.joint_parameter(joint, quantity).value;
  }

  /// Returns the origin of a body's frame in the rig file, relative to the centre of mass.
  Eigen::Vector3d frame_of(int body) const {
    if (body == Joint::kGround) return Eigen::Vector3d::Zero();
    Eigen::Vector3d frame = Eigen::Vector3d::Zero();
    const char* const axes[] = {".c_x", ".c_y", ".c_z"};
    for (int k = 0; k < 3; ++k) {
      const int found = mechanism_.find_parameter(
          mechanism_.bodies[static_cast<std::size_t>(body)].name + axes[k]);
      if (found >= 0) frame(k) = -mechanism_.parameters[static_cast<std::size_t>(found)].value;
    }
    return frame;
  }

  /// Returns a physically consistent inertia. Rig files allow any value for moments of inertia that
  /// do not affect the motion; robot descriptions do not.
  Eigen::Matrix3d inertia_of(int body, double mass) {
    const Eigen::Matrix3d inertia =
        estimator::inertia_matrix(estimator::moments_of_inertia(mechanism_, body));
    const auto axis = estimator::find_single_rotation_axis(mechanism_, body);
    if (!axis) return inertia;
    const Eigen::Matrix3d possible = estimator::nearest_consistent_inertia_matrix(mass, inertia);
    if (possible == inertia) return inertia;
    const double seen = axis->dot(inertia * *axis), kept = axis->dot(possible * *axis);
    if (!(std::abs(kept - seen) <= kSeenShare * seen)) return inertia;
    proto::add_note(
        robot_.notes,
        "body {:?}: moments of inertia about axes without rotation were raised to make the "
        "inertia physically consistent",
        mechanism_.bodies[static_cast<std::size_t>(body)].name);
    return possible;
  }

  void add_link(int body) {
    const estimator::Body& source = mechanism_.bodies[static_cast<std::size_t>(body)];
    RobotLink link{.name = source.name, .inertial = {}};
    if (!source.massless) {
      const double mass = mechanism_.parameter(body, BodyParameter::kMass).value;
      link.inertial =
          RobotInertial{.mass = mass, .center = -frame_of(body), .inertia = inertia_of(body, mass)};
    }
    robot_.links.push_back(std::move(link));
    if (estimator::has_air_drag(mechanism_, body)) {
      proto::add_note(robot_.notes, "the air drag of body {:?} is left out", source.name);
    }
  }

  /// Returns the joint's point on one of its two bodies, in the frame of that body's link.
  Eigen::Vector3d point_in_link(const Side& side) const {
    const Eigen::Vector3d point = side.point - frame_of(side.body);
    return side.body == Joint::kGround
               ? Eigen::Vector3d(robot_to_rig_rotation().transpose() * point)
               : point;
  }
  static Eigen::Matrix3d frame_in_link(const Side& side) {
    return side.body == Joint::kGround
               ? Eigen::Matrix3d(robot_to_rig_rotation().transpose() * side.frame)
               : side.frame;
  }

  void add_joint(const estimator::DirectedJoint& edge) {
    const auto at = static_cast<std::size_t>(edge.joint);
    RobotJoint joint;
    const auto connect = [&](const auto& source, const Eigen::Vector3d& a,
                             const Eigen::Vector3d& b) {
      Side parent{source.body_a, source.frame_a, a}, child{source.body_b, source.frame_b, b};
      // With parent and child exchanged, the same rotation is about the opposite axis.
      if (!edge.forward) std::swap(parent, child);
      joint.name = source.name;
      joint.parent = link_of(parent.body);
      joint.child = link_of(child.body);
      joint.axis = (edge.forward ? 1.0 : -1.0) * child.frame.col(0);
      joint.at = point_in_link(child);
      joint.origin.rotation = frame_in_link(parent) * child.frame.transpose();
      joint.origin.translation = point_in_link(parent) - joint.origin.rotation * joint.at;
    };
    if (edge.weld) {
      connect(mechanism_.fixed_joints[at],
              estimator::fixed_joint_point(mechanism_, edge.joint, false),
              estimator::fixed_joint_point(mechanism_, edge.joint, true));
    } else {
      connect(mechanism_.joints[at], estimator::joint_point(mechanism_, edge.joint, false),
              estimator::joint_point(mechanism_, edge.joint, true));
      fill_joint(edge.joint, joint);
    }
    robot_.joints.push_back(std::move(joint));
  }

  void fill_joint(int index, RobotJoint& joint) const {
    const Joint& source = mechanism_.joints[static_cast<std::size_t>(index)];
    if (const estimator::MimicJoint* own = estimator::find_mimic_joint(mechanism_, index)) {
      joint.follows = {.joint = mechanism_.joints[static_cast<std::size_t>(own->follows)].name,
                       .ratio = own->ratio,
                       .offset = own->offset};
    }
    const JointProperties& facts = rig_.joint_properties[static_cast<std::size_t>(index)];
    joint.kind = source.is_compound() ? estimator::JointKind::kQuaternion : source.kind;
    joint.damping = value(index, JointParameter::kViscous);
    joint.friction = value(index, JointParameter::kCoulombTorque);
    joint.armature = value(index, JointParameter::kShaftInertia);
    joint.stiffness = value(index, JointParameter::kStiffness);
    joint.rest = value(index, JointParameter::kRestAngle);
    if (source.motor.present) {
      joint.motor = {.control_unit = facts.control_unit,
                     .gain = value(index, JointParameter::kMotorGain),
                     .back_emf = value(index, JointParameter::kBackEmf),
                     .control_max = facts.control_max};
    }
    const std::vector<estimator::Encoder> sensors = estimator::used_encoders(mechanism_);
    for (std::size_t k = 0; k < sensors.size(); ++k) {
      if (sensors[k].name != source.name) continue;
      const estimator::SensorLimits& limits = rig_.encoders[k].limits;
      if (limits.lowest < limits.highest) {
        joint.lower = limits.lowest;
        joint.upper = limits.highest;
      }
      joint.velocity = limits.fastest;
    }
  }

  void add_loop(int joint) {
    const Joint& source = mechanism_.joints[static_cast<std::size_t>(joint)];
    if (!source.kind_traits().turns) {
      proto::add_note(robot_.notes, "joint {:?} {} and closes a loop, so it is left out",
                      source.name, source.kind_traits().verb);
      return;
    }
    const Side sides[] = {
        {source.body_a, source.frame_a, estimator::joint_point(mechanism_, joint, false)},
        {source.body_b, source.frame_b, estimator::joint_point(mechanism_, joint, true)}};
    RobotLoop loop{.name = source.name};
    for (std::size_t k = 0; k < 2; ++k) {
      loop.links[k] = link_of(sides[k].body);
      loop.points[k] = point_in_link(sides[k]);
      loop.axes[k] = frame_in_link(sides[k]).col(0);
    }
    if (source.motor.present || source.measured || value(joint, JointParameter::kViscous) != 0.0 ||
        value(joint, JointParameter::kCoulombTorque) != 0.0 ||
        value(joint, JointParameter::kStiffness) != 0.0) {
      proto::add_note(
          robot_.notes,
          "joint {:?} closes a loop: its friction, spring, motor and encoder are left out",
          source.name);
    }
    robot_.loops.push_back(loop);
  }

  /// Removes couplings to joints that close a loop, since these joints are not in the robot's tree.
  void leave_out_following(const std::set<int>& joints_in_tree) {
    for (const estimator::MimicJoint& each : mechanism_.mimic_joints) {
      if (joints_in_tree.contains(each.joint) && joints_in_tree.contains(each.follows)) continue;
      const auto name = [&](int joint) {
        return mechanism_.joints[static_cast<std::size_t>(joint)].name;
      };
      proto::add_note(
          robot_.notes,
          "joint {:?} mimics {:?}, and one of them closes a loop: the coupling is left out",
          name(each.joint), name(each.follows));
      const auto own = std::ranges::find(robot_.joints, name(each.joint), &RobotJoint::name);
      if (own != robot_.joints.end()) own->follows.reset();
    }
  }

  void note_nowhere(int joint) {
    const Joint& source = mechanism_.joints[static_cast<std::size_t>(joint)];
    const auto note_value = [&](JointParameter quantity, const std::string& what) {
      const estimator::Parameter& parameter = mechanism_.joint_parameter(joint, quantity);
      if (parameter.value == 0.0) return;
      proto::add_note(robot_.notes, "{} = {} {}: {} cannot be represented and is left out",
                      parameter.name, notation::format_exact(parameter.value), parameter.unit,
                      what);
    };
    for (const auto& [quantity, what] : kNowhere) note_value(quantity, what);
    if (source.motor.gear_ratio != 0.0 && value(joint, JointParameter::kShaftInertia) != 0.0) {
      proto::add_note(
          robot_.notes,
          "joint {:?}: the rotor's rotation with its parent (gear_ratio) cannot be represented "
          "and is left out",
          source.name);
    }
    if (source.stops.lower || source.stops.upper) {
      proto::add_note(
          robot_.notes,
          "joint {:?}: end stops and restitution cannot be represented and are left out",
          source.name);
    }
    if (source.transition_speed != 0.0) {
      proto::add_note(robot_.notes,
                      "joint {:?}: smoothed friction (transition_speed) is written as dry friction",
                      source.name);
    }
  }

  const Rig& rig_;
  const Mechanism& mechanism_;
  Robot robot_;
};

}  // namespace

Robot convert_rig_to_robot(const Rig& rig) { return RobotBuilder(rig).build(); }

}  // namespace service
