#include "service/rig/prescribed_joints.hpp"

#include <string>

namespace service {
namespace {

namespace v1 = rigcal::v1;

// Inertia of the rotor [kg·m²], or its mass [kg]. Bodies of 10 kg change the motion by a
// hundred-thousandth. The mass matrix stays regular, since its factorization does not depend on the
// units of the joints.
constexpr double kRotorInertia = 1e6;

void check_prescribed_joint(const v1::Joint& joint, const proto::TextLocator& place) {
  const std::string what = "joint \"" + joint.name() + "\" has a prescribed motion ";
  if (joint.type() == v1::Joint::FIXED) {
    place.fail(what + "but is fixed. Remove prescribed, or give it a type that moves");
  }
  if (!joint.has_encoder()) {
    place.fail(what + "but no encoder that records it. Add encoder { }");
  }
  if (joint.has_motor()) {
    place.at("motor").fail(what +
                           "and a motor. "
                           "Remove motor { }, or remove prescribed if the motor's command is "
                           "recorded");
  }
  if (joint.has_friction() || joint.has_stops() || joint.has_mimic()) {
    place.fail(what +
               "on which friction, end stops and couplings have no effect. "
               "Remove friction { }, stops { } and mimic { }");
  }
}

}  // namespace

void expand_prescribed_joints(v1::Rig& rig, const proto::TextLocator& root) {
  for (int i = 0; i < rig.joint_size(); ++i) {
    v1::Joint& joint = *rig.mutable_joint(i);
    if (!joint.prescribed()) continue;
    check_prescribed_joint(joint, root.at("joint", i));
    const bool slides = joint.type() == v1::Joint::PRISMATIC;
    v1::Motor& motor = *joint.mutable_motor();
    motor.set_control_unit(slides ? "m/s²" : "rad/s²");
    motor.mutable_gain()->set_value(kRotorInertia);
    (slides ? motor.mutable_reflected_mass() : motor.mutable_shaft_inertia())
        ->set_value(kRotorInertia);
  }
}

}  // namespace service
