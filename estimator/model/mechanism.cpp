#include "estimator/model/mechanism.hpp"

#include "estimator/math/decompositions.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/model/moments.hpp"
#include "estimator/model/only_rotation_axis.hpp"
#include "estimator/model/rest_friction.hpp"
#include "estimator/model/spanning_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

namespace estimator {
namespace {

bool has_free_inertia(const Mechanism& mechanism, int body) {
  for (const BodyQuantity quantity : {BodyQuantity::kJxx, BodyQuantity::kJyy, BodyQuantity::kJzz,
                                      BodyQuantity::kJxy, BodyQuantity::kJxz, BodyQuantity::kJyz}) {
    if (changes_in_fit(mechanism, mechanism.index(body, quantity))) return true;
  }
  return false;
}

void check_inertia(const Mechanism& mechanism, int body, InertiaCheck inertias,
                   std::vector<std::string>& faults) {
  const Eigen::Vector3d moments =
      symmetric_eigen3(inertia_matrix(moments_of(mechanism, body))).values;
  const std::string who =
      "body \"" + mechanism.bodies[static_cast<std::size_t>(body)].name + "\": ";
  if (!(moments[0] > 0.0)) {
    faults.push_back(who + "the inertia matrix is not positive definite (smallest principal " +
                     "moment " + std::to_string(moments[0]) + " kg·m²)");
  } else if (moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-9) &&
             !(inertias == InertiaCheck::kFixed && has_free_inertia(mechanism, body)) &&
             !only_rotation_axis(mechanism, body)) {
    // The other moments of a body that rotates about one axis only have no effect.
    faults.push_back(who + "the inertia violates the triangle inequality: the largest principal " +
                     "moment may not exceed the sum of the two others; no body of positive " +
                     "density has such an inertia");
  }
}

void check_parameters(const Mechanism& mechanism, std::vector<std::string>& faults) {
  for (const Parameter& parameter : mechanism.parameters) {
    if (!std::isfinite(parameter.value)) {
      faults.push_back("parameter \"" + parameter.name + "\" is not a finite number");
    } else if (!(parameter.lower <= parameter.upper)) {
      faults.push_back("parameter \"" + parameter.name + "\": lower bound above upper bound");
    } else if (parameter.value < parameter.lower || parameter.value > parameter.upper) {
      faults.push_back("parameter \"" + parameter.name + "\": value " +
                       std::to_string(parameter.value) + " lies outside its bounds [" +
                       std::to_string(parameter.lower) + ", " + std::to_string(parameter.upper) +
                       "]");
    } else if (!(parameter.prior_standard_deviation > 0.0)) {
      faults.push_back("parameter \"" + parameter.name +
                       "\": the prior's standard deviation must be positive");
    } else if (!std::isfinite(parameter.prior_mean)) {
      faults.push_back("parameter \"" + parameter.name + "\": the prior's mean is not finite");
    }
  }
}

/// Checks that friction is nonnegative at rest; it may rise from rest.
void check_rest_friction(const Mechanism& mechanism, std::vector<std::string>& faults) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (!may_rise_from_rest(mechanism, j) || dry_friction_at_rest(mechanism, j) >= 0.0) continue;
    const Parameter& kinetic = mechanism.joint_parameter(j, JointQuantity::kCoulombTorque);
    const Parameter& excess = mechanism.joint_parameter(j, JointQuantity::kStribeckTorque);
    faults.push_back("parameter \"" + excess.name + "\": dry friction would drive the joint at " +
                     "rest, since " + kinetic.name + " + " + excess.name +
                     " is below zero; raise one of them");
  }
}

/// Checks a joint of any kind, movable or fixed.
template <typename AnyJoint>
void check_joint(const Mechanism& mechanism, const AnyJoint& joint, const std::string& who,
                 std::vector<std::string>& faults) {
  const int bodies = mechanism.body_count();
  if (joint.body_b < 0 || joint.body_b >= bodies || joint.body_a < Joint::kGround ||
      joint.body_a >= bodies) {
    faults.push_back(who + "refers to a body that does not exist");
  } else if (joint.body_a == joint.body_b) {
    faults.push_back(who + "connects a body to itself");
  }
  for (const Eigen::Matrix3d* frame : {&joint.frame_a, &joint.frame_b}) {
    if (!((*frame * frame->transpose()).isIdentity(1e-9) && frame->determinant() > 0.0)) {
      faults.push_back(who + "a joint frame is not a rotation");
    }
  }
}

void check_joint(const Mechanism& mechanism, const Joint& joint, std::vector<std::string>& faults) {
  const std::string who = "joint \"" + joint.name + "\": ";
  check_joint(mechanism, joint, who, faults);
  const double settings[] = {joint.compliance_linear, joint.compliance_angular, joint.damping_time,
                             joint.stick_speed, joint.transition_speed};
  if (!std::ranges::all_of(settings, [](double value) { return std::isfinite(value); }) ||
      joint.compliance_linear < 0.0 || joint.compliance_angular < 0.0 ||
      !(joint.damping_time >= 0.0 || joint.damping_time == Joint::kAutomaticDamping) ||
      !(joint.stick_speed > 0.0)) {
    faults.push_back(who + "compliances and damping time must be ≥ 0, the stick speed > 0");
  }
  if (!(joint.control_noise >= 0.0) || !std::isfinite(joint.control_noise)) {
    faults.push_back(who + "the noise of its control must be ≥ 0");
  }
  if (joint.transition_speed < 0.0) faults.push_back(who + "the transition speed must be ≥ 0");
  if (!std::isfinite(joint.gear_ratio)) faults.push_back(who + "the gear ratio must be finite");
  if (joint.gear_ratio != 0.0 && !joint.traits().turns) {
    faults.push_back(who + std::string(joint.traits().verb) +
                     ", and gear_ratio is supported for joints that turn only; remove it");
  }
}

void check_couplings(const Mechanism& mechanism, std::vector<std::string>& faults) {
  const int joints = mechanism.joint_count();
  const auto is_joint = [&](int joint) { return joint >= 0 && joint < joints; };
  for (const MimicJoint& each : mechanism.mimic_joints) {
    if (!is_joint(each.joint) || !is_joint(each.follows)) {
      faults.push_back(
          "a joint that follows another one, or the joint that it follows, does not exist");
      return;
    }
    const std::string who =
        "joint \"" + mechanism.joints[static_cast<std::size_t>(each.joint)].name + "\": ";
    if (find_mimic_joint(mechanism, each.joint) != &each) {
      faults.push_back(who + "it can follow only one joint");
    }
    if (each.ratio == 0.0 || !std::isfinite(each.ratio) || !std::isfinite(each.offset)) {
      faults.push_back(who +
                       "the ratio at which it follows must be finite and not 0; make a joint that "
                       "does not move FIXED");
    }
    int steps = 0;
    for (const MimicJoint* on = &each; on != nullptr && steps <= joints; ++steps) {
      on = find_mimic_joint(mechanism, on->follows);
    }
    if (steps > joints) faults.push_back(who + "it follows itself by way of other joints");
  }
}

/// Checks that every massless body carries another body, whose inertia determines its motion.
void check_carries(const Mechanism& mechanism, int body, std::vector<std::string>& faults) {
  const auto touches = [&](const auto& joint) {
    return joint.body_a == body || joint.body_b == body;
  };
  if (std::ranges::count_if(mechanism.joints, touches) +
          std::ranges::count_if(mechanism.fixed_joints, touches) <
      2) {
    faults.push_back("body \"" + mechanism.bodies[static_cast<std::size_t>(body)].name +
                     "\" is massless and carries nothing; give it a mass, or attach a body to it");
  }
}

void check_reachable(const Mechanism& mechanism, std::vector<std::string>& faults) {
  std::set<int> reached = {Joint::kGround};
  for (std::size_t round = 0; round < mechanism.bodies.size(); ++round) {
    for (const Joint& joint : mechanism.joints) {
      if (reached.count(joint.body_a)) reached.insert(joint.body_b);
      if (reached.count(joint.body_b)) reached.insert(joint.body_a);
    }
    for (const FixedJoint& weld : mechanism.fixed_joints) {
      if (reached.count(weld.body_a)) reached.insert(weld.body_b);
      if (reached.count(weld.body_b)) reached.insert(weld.body_a);
    }
  }
  for (int body = 0; body < mechanism.body_count(); ++body) {
    if (!reached.count(body)) {
      faults.push_back("body \"" + mechanism.bodies[static_cast<std::size_t>(body)].name +
                       "\" is not connected to the ground by any joint");
    }
  }
}

}  // namespace

int Mechanism::find_parameter(std::string_view parameter_name) const {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == parameter_name) return static_cast<int>(i);
  }
  return -1;
}

const ReadingTraits& reading_of(const Mechanism& mechanism, const Sensor& sensor,
                                const Instrument& instrument) {
  const ReadingTraits& reading = reading_traits(instrument.reads);
  if (sensor.has_axes() || sensor.joint < 0) return reading;
  const Joint& joint = mechanism.joints[static_cast<std::size_t>(sensor.joint)];
  return joint.traits().turns ? reading : reading_traits(reading.prismatic_reading);
}

const MimicJoint* find_mimic_joint(const Mechanism& mechanism, int joint) {
  const auto found = std::ranges::find(mechanism.mimic_joints, joint, &MimicJoint::joint);
  return found == mechanism.mimic_joints.end() ? nullptr : &*found;
}

std::vector<double> parameter_values(const Mechanism& mechanism) {
  std::vector<double> values;
  for (const Parameter& parameter : mechanism.parameters) values.push_back(parameter.value);
  return values;
}

bool has_air_drag(const Mechanism& mechanism, int body) {
  const int index = mechanism.index_of_air(body, AirQuantity::kCoefficient);
  return mechanism.parameters[static_cast<std::size_t>(index)].value != 0.0 ||
         changes_in_fit(mechanism, index);
}

void require_spook_support(const Mechanism& mechanism) {
  const auto refuse = [](const std::string& name, const char* what) {
    throw std::invalid_argument("joint \"" + name + "\" " + what +
                                ", which a SPOOK simulator does not support; "
                                "request physical parameters");
  };
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    if (!joint.traits().in_spook) refuse(joint.name, joint.traits().verb);
    if (joint.gear_ratio != 0.0) refuse(joint.name, "has a rotor that turns with its parent");
    if (find_mimic_joint(mechanism, j) != nullptr) refuse(joint.name, "follows another joint");
    if (joint.stops_lower || joint.stops_upper) refuse(joint.name, "has end stops");
    if (joint.control_noise != 0.0) refuse(joint.name, "has control noise");
    FrictionLaws::each([&]<typename Law>(int law) {
      if (Law::kInSpook || !has_law(mechanism, j, law)) return;
      refuse(joint.name, (std::string("has ") + Law::kWhat).c_str());
    });
  }
  if (const auto late = first_delayed(mechanism)) refuse(late->name, "has an encoder with a delay");
  if (!mechanism.fixed_joints.empty())
    refuse(mechanism.fixed_joints.front().name, "fixes two bodies to each other");
  for (const Joint& joint : mechanism.joints) {
    for (const int body : {joint.body_a, joint.body_b}) {
      if (body == Joint::kGround) continue;
      if (mechanism.bodies[static_cast<std::size_t>(body)].massless) {
        refuse(joint.name, "moves a body without mass");
      }
      if (has_air_drag(mechanism, body)) refuse(joint.name, "moves a body with air drag");
    }
  }
}

void copy_parameter_values(const Mechanism& from, Mechanism& to) {
  for (std::size_t i = 0; i < to.parameters.size(); ++i) {
    to.parameters[i].value = from.parameters[i].value;
  }
}

std::vector<std::string> find_errors(const Mechanism& mechanism, InertiaCheck inertias) {
  std::vector<std::string> faults;
  std::set<std::string> names = {"gravity", "ground"};
  const auto check_name = [&](const std::string& name, const char* kind) {
    if (name.empty()) faults.push_back(std::string("a ") + kind + " has no name");
    if (!names.insert(name).second) {
      faults.push_back(std::string(kind) + " \"" + name + "\": this name is already used");
    }
  };
  for (const Body& body : mechanism.bodies) check_name(body.name, "body");
  for (const Joint& joint : mechanism.joints) check_name(joint.name, "joint");
  for (const FixedJoint& weld : mechanism.fixed_joints) check_name(weld.name, "fixed joint");
  for (const BodyEncoder& each : mechanism.body_encoders) check_name(each.name, "encoder");
  for (const Sensor& each : mechanism.sensors) {
    check_name(each.name, each.traits().what);
    if (each.body < 0 || each.body >= mechanism.body_count()) {
      faults.push_back("sensor \"" + each.name + "\" is attached to no body");
    }
    const bool is_at_joint = each.traits().of == SensorTraits::Of::kJoint;
    if (is_at_joint && (each.joint < 0 || each.joint >= mechanism.joint_count())) {
      faults.push_back("sensor \"" + each.name + "\" is attached to no joint");
    }
  }
  if (mechanism.bodies.empty()) faults.push_back("the mechanism has no bodies");
  for (const Joint& joint : mechanism.joints) check_joint(mechanism, joint, faults);
  for (const FixedJoint& weld : mechanism.fixed_joints) {
    check_joint(mechanism, weld, "fixed joint \"" + weld.name + "\": ", faults);
  }
  check_couplings(mechanism, faults);
  if (!faults.empty()) return faults;
  for (const Sensor& each : mechanism.sensors) {
    if (!each.traits().needs_tree || is_tree(mechanism)) continue;
    faults.push_back("sensor \"" + each.name + "\" measures the load of joint \"" +
                     mechanism.joints[static_cast<std::size_t>(each.joint)].name +
                     "\", which the motion does not determine with closed loops or joints that "
                     "follow others; remove the sensor");
  }
  for (const BodyEncoder& encoder : mechanism.body_encoders) {
    std::string fault;
    terms_between(mechanism, encoder, fault);
    if (!fault.empty()) faults.push_back(fault);
  }
  check_parameters(mechanism, faults);
  check_rest_friction(mechanism, faults);
  check_stops(mechanism, faults);
  check_reachable(mechanism, faults);
  for (int body = 0; body < mechanism.body_count(); ++body) {
    if (mechanism.bodies[static_cast<std::size_t>(body)].massless) {
      check_carries(mechanism, body, faults);
    } else {
      check_inertia(mechanism, body, inertias, faults);
    }
  }
  return faults;
}

}  // namespace estimator
