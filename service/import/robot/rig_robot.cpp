#include "service/import/robot/rig_robot.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "estimator/model/joint_friction.hpp"
#include "estimator/model/moments.hpp"
#include "estimator/model/placement.hpp"
#include "estimator/model/possible_inertia.hpp"
#include "estimator/model/sensor.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/model/turning_axis.hpp"
#include "proto/notation/number_format.hpp"

namespace service {
namespace {

using estimator::BodyQuantity;
using estimator::Hinge;
using estimator::HingeQuantity;
using estimator::Mechanism;

constexpr double kSeenShare = 1e-9;  // largest relative change of an identifiable moment

/// Joint properties other than friction that robot descriptions lack; noted if not zero.
constexpr struct {
  HingeQuantity quantity;
  const char* what;
} kNowhere[] = {{HingeQuantity::kConstantTorque, "a constant torque or force"},
                {HingeQuantity::kInputDelay, "a delay of the control"},
                {HingeQuantity::kEncoderOffset, "an encoder's offset"},
                {HingeQuantity::kEncoderDelay, "an encoder's delay"}};

/// Side of a joint: a body, and the joint's frame and point on it, from its centre of mass.
struct Side {
  int body;
  Eigen::Matrix3d frame;
  Eigen::Vector3d point;
};

class RobotBuilder {
 public:
  explicit RobotBuilder(const Rig& rig) : rig_(rig), mechanism_(rig.mechanism) {}

  Robot build() {
    robot_.name = mechanism_.name;
    std::set<std::string> taken;
    for (const estimator::Body& body : mechanism_.bodies) taken.insert(body.name);
    std::string world = "world";
    for (int k = 2; taken.contains(world); ++k) world = "world_" + std::to_string(k);
    robot_.links.push_back({.name = world, .inertial = {}});
    for (int body = 0; body < mechanism_.body_count(); ++body) add_link(body);
    std::set<int> hinges_in_tree, welds_in_tree;
    for (const estimator::TreeEdge& edge : estimator::spanning_tree(mechanism_)) {
      (edge.weld ? welds_in_tree : hinges_in_tree).insert(edge.hinge);
      add_joint(edge);
    }
    for (int hinge = 0; hinge < mechanism_.hinge_count(); ++hinge) {
      if (!hinges_in_tree.contains(hinge)) add_loop(hinge);
      note_nowhere(hinge);
    }
    leave_out_following(hinges_in_tree);
    for (int weld = 0; weld < mechanism_.weld_count(); ++weld) {
      if (welds_in_tree.contains(weld)) continue;
      note("fixed joint \"" + mechanism_.welds[static_cast<std::size_t>(weld)].name +
           "\" closes a loop: left out");
    }
    for (const estimator::BodyEncoder& encoder : mechanism_.body_encoders) {
      note("encoder \"" + encoder.name + "\" does not measure a single joint: left out");
    }
    for (const estimator::InertialSensor& sensor : mechanism_.inertial_sensors) {
      note("sensor \"" + sensor.name + "\" cannot be represented: left out");
    }
    robot_.gravity = rig_from_robot_world().transpose() * estimator::gravity_of(mechanism_);
    return std::move(robot_);
  }

 private:
  void note(const std::string& text) { robot_.notes.push_back(text); }
  static std::size_t link_of(int body) { return static_cast<std::size_t>(body + 1); }
  double value(int hinge, HingeQuantity quantity) const {
    return mechanism_.hinge_parameter(hinge, quantity).value;
  }

  /// Returns the origin of the rig file's body frame, relative to the centre of mass.
  Eigen::Vector3d frame_of(int body) const {
    if (body == Hinge::kGround) return Eigen::Vector3d::Zero();
    Eigen::Vector3d frame = Eigen::Vector3d::Zero();
    const char* const axes[] = {".c_x", ".c_y", ".c_z"};
    for (int k = 0; k < 3; ++k) {
      const int found = mechanism_.find_parameter(
          mechanism_.bodies[static_cast<std::size_t>(body)].name + axes[k]);
      if (found >= 0) frame(k) = -mechanism_.parameters[static_cast<std::size_t>(found)].value;
    }
    return frame;
  }

  /// Returns an inertia that is physically consistent. Rig files allow any value for moments
  /// without effect on the motion; robot descriptions do not.
  Eigen::Matrix3d inertia_of(int body, double mass) {
    const Eigen::Matrix3d inertia =
        estimator::inertia_matrix(estimator::moments_of(mechanism_, body));
    const auto axis = estimator::turning_axis(mechanism_, body);
    if (!axis) return inertia;
    const Eigen::Matrix3d possible = estimator::possible_inertia(mass, inertia);
    if (possible == inertia) return inertia;
    const double seen = axis->dot(inertia * *axis), kept = axis->dot(possible * *axis);
    if (!(std::abs(kept - seen) <= kSeenShare * seen)) return inertia;
    note("body \"" + mechanism_.bodies[static_cast<std::size_t>(body)].name +
         "\": moments of inertia about axes without rotation were raised to make the inertia "
         "physically consistent");
    return possible;
  }

  void add_link(int body) {
    const estimator::Body& source = mechanism_.bodies[static_cast<std::size_t>(body)];
    RobotLink link{.name = source.name, .inertial = {}};
    if (!source.massless) {
      const double mass = mechanism_.parameter(body, BodyQuantity::kMass).value;
      link.inertial =
          RobotInertial{.mass = mass, .center = -frame_of(body), .inertia = inertia_of(body, mass)};
    }
    robot_.links.push_back(std::move(link));
    if (estimator::has_air_drag(mechanism_, body)) {
      note("body \"" + source.name + "\" has air drag, which is left out");
    }
  }

  /// Returns the point of a joint's side in the frame of its link.
  Eigen::Vector3d point_in_link(const Side& side) const {
    const Eigen::Vector3d point = side.point - frame_of(side.body);
    return side.body == Hinge::kGround ? Eigen::Vector3d(rig_from_robot_world().transpose() * point)
                                       : point;
  }
  static Eigen::Matrix3d frame_in_link(const Side& side) {
    return side.body == Hinge::kGround
               ? Eigen::Matrix3d(rig_from_robot_world().transpose() * side.frame)
               : side.frame;
  }

  void add_joint(const estimator::TreeEdge& edge) {
    const auto at = static_cast<std::size_t>(edge.hinge);
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
      connect(mechanism_.welds[at], estimator::point_of_weld(mechanism_, edge.hinge, false),
              estimator::point_of_weld(mechanism_, edge.hinge, true));
    } else {
      connect(mechanism_.hinges[at], estimator::point_of_hinge(mechanism_, edge.hinge, false),
              estimator::point_of_hinge(mechanism_, edge.hinge, true));
      fill_joint(edge.hinge, joint);
    }
    robot_.joints.push_back(std::move(joint));
  }

  void fill_joint(int hinge, RobotJoint& joint) const {
    const Hinge& source = mechanism_.hinges[static_cast<std::size_t>(hinge)];
    if (const estimator::Coupling* own = estimator::find_coupling(mechanism_, hinge)) {
      joint.follows = {.joint = mechanism_.hinges[static_cast<std::size_t>(own->follows)].name,
                       .ratio = own->ratio,
                       .offset = own->offset};
    }
    const HingeFacts& facts = rig_.hinge_facts[static_cast<std::size_t>(hinge)];
    joint.kind = source.kind;
    joint.damping = value(hinge, HingeQuantity::kViscous);
    joint.friction = value(hinge, HingeQuantity::kCoulombTorque);
    joint.armature = value(hinge, HingeQuantity::kShaftInertia);
    joint.stiffness = value(hinge, HingeQuantity::kStiffness);
    joint.rest = value(hinge, HingeQuantity::kRestAngle);
    if (source.motorised) {
      joint.motor = {.control_unit = facts.control_unit,
                     .gain = value(hinge, HingeQuantity::kMotorGain),
                     .back_emf = value(hinge, HingeQuantity::kBackEmf),
                     .control_max = facts.control_max};
    }
    const std::vector<estimator::Sensor> sensors = estimator::sensors_of(mechanism_);
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

  void add_loop(int hinge) {
    const Hinge& source = mechanism_.hinges[static_cast<std::size_t>(hinge)];
    if (!source.traits().turns) {
      note("joint \"" + source.name + "\" " + source.traits().verb +
           " and closes a loop: left out");
      return;
    }
    const Side sides[] = {
        {source.body_a, source.frame_a, estimator::point_of_hinge(mechanism_, hinge, false)},
        {source.body_b, source.frame_b, estimator::point_of_hinge(mechanism_, hinge, true)}};
    RobotLoop loop{.name = source.name};
    for (std::size_t k = 0; k < 2; ++k) {
      loop.links[k] = link_of(sides[k].body);
      loop.points[k] = point_in_link(sides[k]);
      loop.axes[k] = frame_in_link(sides[k]).col(0);
    }
    if (source.motorised || source.measured || value(hinge, HingeQuantity::kViscous) != 0.0 ||
        value(hinge, HingeQuantity::kCoulombTorque) != 0.0 ||
        value(hinge, HingeQuantity::kStiffness) != 0.0) {
      note("joint \"" + source.name +
           "\" closes a loop: its friction, spring, motor and encoder are left out");
    }
    robot_.loops.push_back(loop);
  }

  /// Removes couplings of joints that close a loop, since these are no joints in the robot.
  void leave_out_following(const std::set<int>& hinges_in_tree) {
    for (const estimator::Coupling& each : mechanism_.couplings) {
      if (hinges_in_tree.contains(each.hinge) && hinges_in_tree.contains(each.follows)) continue;
      const auto name = [&](int hinge) {
        return mechanism_.hinges[static_cast<std::size_t>(hinge)].name;
      };
      note("joint \"" + name(each.hinge) + "\" follows \"" + name(each.follows) +
           "\", and one of them closes a loop: the coupling is left out");
      const auto own = std::ranges::find(robot_.joints, name(each.hinge), &RobotJoint::name);
      if (own != robot_.joints.end()) own->follows.reset();
    }
  }

  void note_nowhere(int hinge) {
    const Hinge& source = mechanism_.hinges[static_cast<std::size_t>(hinge)];
    const auto note_value = [&](HingeQuantity quantity, const std::string& what) {
      const estimator::Parameter& parameter = mechanism_.hinge_parameter(hinge, quantity);
      if (parameter.value == 0.0) return;
      note(parameter.name + " = " + notation::format_exact(parameter.value) + " " + parameter.unit +
           ": " + what + " cannot be represented and is left out");
    };
    for (int place = 0; place < estimator::FrictionLaws::kQuantityCount; ++place) {
      const HingeQuantity quantity = estimator::friction_quantity(place);
      const char* const what = estimator::friction_facts(quantity)->not_of_robots;
      if (what != nullptr) note_value(quantity, what);
    }
    for (const auto& [quantity, what] : kNowhere) note_value(quantity, what);
    if (source.gear_ratio != 0.0 && value(hinge, HingeQuantity::kShaftInertia) != 0.0) {
      note("joint \"" + source.name +
           "\": the rotor's rotation with its parent (gear_ratio) cannot be represented and is "
           "left out");
    }
    if (source.stops_lower || source.stops_upper) {
      note("joint \"" + source.name +
           "\": end stops and restitution cannot be represented and are left out");
    }
    if (source.creep_speed != 0.0) {
      note("joint \"" + source.name +
           "\": smoothed friction (creep_speed) is written as dry friction");
    }
  }

  const Rig& rig_;
  const Mechanism& mechanism_;
  Robot robot_;
};

}  // namespace

Robot robot_of(const Rig& rig) { return RobotBuilder(rig).build(); }

}  // namespace service
