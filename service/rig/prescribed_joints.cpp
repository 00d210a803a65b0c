#include "service/rig/prescribed_joints.hpp"

#include <string>

#include "service/rig/rig_joints.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;

void check_prescribed_joint(const v1::Joint& joint, const proto::TextLocator& place) {
  const std::string what = "joint \"" + joint.name() + "\" has a prescribed motion ";
  if (joint.type() == v1::Joint::FIXED) {
    place.fail(what + "but is fixed. Remove motion: PRESCRIBED, or give it a type that moves");
  }
  if (is_compound(joint)) {
    place.at("motion").fail(what + "but turns about all axes. Remove motion: PRESCRIBED");
  }
  if (!joint.has_encoder()) {
    place.fail(what + "but no encoder that records it. Add encoder { }");
  }
  if (joint.has_motor()) {
    place.at("motor").fail(what +
                           "and a motor. "
                           "Remove motor { }, or remove motion: PRESCRIBED if the motor's command "
                           "is recorded");
  }
  if (joint.has_friction() || joint.has_stops() || joint.has_mimic()) {
    place.fail(what +
               "on which friction, end stops and couplings have no effect. "
               "Remove friction { }, stops { } and mimic { }");
  }
}

}  // namespace

void expand_prescribed_joints(v1::Rig& rig, const proto::TextLocator& root) {
  int last = -1;
  bool all = true;
  for (int i = 0; i < rig.joint_size(); ++i) {
    v1::Joint& joint = *rig.mutable_joint(i);
    const bool is_prescribed = joint.motion() == v1::Joint::PRESCRIBED;
    all = all && (is_prescribed || joint.type() == v1::Joint::FIXED);
    if (!is_prescribed) continue;
    last = i;
    check_prescribed_joint(joint, root.at("joint", i));
    const bool slides = joint.type() == v1::Joint::PRISMATIC;
    joint.mutable_motor()->set_control_unit(slides ? "m/s²" : "rad/s²");
  }
  if (last < 0 || !all) return;
  root.at("joint", last)
      .at("motion")
      .fail(
          "all moving joints have a prescribed motion, so that no parameter affects a motion. "
          "Remove motion: PRESCRIBED from the joints that the forces of the rig move");
}

}  // namespace service
