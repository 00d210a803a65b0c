#include "estimator/model/mechanism.hpp"

#include "estimator/math/decompositions.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/model/moments.hpp"
#include "estimator/model/rest_friction.hpp"
#include "estimator/model/sensor.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/model/turning_axis.hpp"

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
    if (varies(mechanism, mechanism.index(body, quantity))) return true;
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
             !turning_axis(mechanism, body)) {
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

/// Friction may rise from rest, but must be nonnegative at rest.
void check_rest_friction(const Mechanism& mechanism, std::vector<std::string>& faults) {
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    if (!may_rise_from_rest(mechanism, j) || dry_friction_at_rest(mechanism, j) >= 0.0) continue;
    const Parameter& kinetic = mechanism.hinge_parameter(j, HingeQuantity::kCoulombTorque);
    const Parameter& excess = mechanism.hinge_parameter(j, HingeQuantity::kStribeckTorque);
    faults.push_back("parameter \"" + excess.name + "\": dry friction would drive the joint at " +
                     "rest, since " + kinetic.name + " + " + excess.name +
                     " is below zero; raise one of them");
  }
}

/// Checks that apply to joints of any kind.
template <typename Joint>
void check_joint(const Mechanism& mechanism, const Joint& joint, const std::string& who,
                 std::vector<std::string>& faults) {
  const int bodies = mechanism.body_count();
  if (joint.body_b < 0 || joint.body_b >= bodies || joint.body_a < Hinge::kGround ||
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

void check_hinge(const Mechanism& mechanism, const Hinge& hinge, std::vector<std::string>& faults) {
  const std::string who = "joint \"" + hinge.name + "\": ";
  check_joint(mechanism, hinge, who, faults);
  const double settings[] = {hinge.compliance_linear, hinge.compliance_angular, hinge.damping_time,
                             hinge.stick_speed, hinge.creep_speed};
  if (!std::ranges::all_of(settings, [](double value) { return std::isfinite(value); }) ||
      hinge.compliance_linear < 0.0 || hinge.compliance_angular < 0.0 ||
      !(hinge.damping_time >= 0.0 || hinge.damping_time == Hinge::kAutomaticDamping) ||
      !(hinge.stick_speed > 0.0)) {
    faults.push_back(who + "compliances and damping time must be ≥ 0, the stick speed > 0");
  }
  if (!(hinge.control_noise >= 0.0) || !std::isfinite(hinge.control_noise)) {
    faults.push_back(who + "the noise of its control must be ≥ 0");
  }
  if (hinge.creep_speed < 0.0) faults.push_back(who + "the creep speed must be ≥ 0");
  if (!std::isfinite(hinge.gear_ratio)) faults.push_back(who + "the gear ratio must be finite");
  if (hinge.gear_ratio != 0.0 && !hinge.traits().turns) {
    faults.push_back(who + std::string(hinge.traits().verb) +
                     ", and gear_ratio is supported for joints that turn only; remove it");
  }
}

void check_couplings(const Mechanism& mechanism, std::vector<std::string>& faults) {
  const int hinges = mechanism.hinge_count();
  const auto is_hinge = [&](int hinge) { return hinge >= 0 && hinge < hinges; };
  for (const Coupling& each : mechanism.couplings) {
    if (!is_hinge(each.hinge) || !is_hinge(each.follows)) {
      faults.push_back(
          "a joint that follows another one, or the joint that it follows, does not exist");
      return;
    }
    const std::string who =
        "joint \"" + mechanism.hinges[static_cast<std::size_t>(each.hinge)].name + "\": ";
    if (find_coupling(mechanism, each.hinge) != &each) {
      faults.push_back(who + "it can follow only one joint");
    }
    if (each.ratio == 0.0 || !std::isfinite(each.ratio) || !std::isfinite(each.offset)) {
      faults.push_back(who +
                       "the ratio at which it follows must be finite and not 0; make a joint that "
                       "does not move FIXED");
    }
    int steps = 0;
    for (const Coupling* on = &each; on != nullptr && steps <= hinges; ++steps) {
      on = find_coupling(mechanism, on->follows);
    }
    if (steps > hinges) faults.push_back(who + "it follows itself by way of other joints");
  }
}

/// A massless body must carry another body, whose inertia determines its motion.
void check_carries(const Mechanism& mechanism, int body, std::vector<std::string>& faults) {
  const auto touches = [&](const auto& joint) {
    return joint.body_a == body || joint.body_b == body;
  };
  if (std::ranges::count_if(mechanism.hinges, touches) +
          std::ranges::count_if(mechanism.welds, touches) <
      2) {
    faults.push_back("body \"" + mechanism.bodies[static_cast<std::size_t>(body)].name +
                     "\" is massless and carries nothing; give it a mass, or attach a body to it");
  }
}

void check_reachable(const Mechanism& mechanism, std::vector<std::string>& faults) {
  std::set<int> reached = {Hinge::kGround};
  for (std::size_t round = 0; round < mechanism.bodies.size(); ++round) {
    for (const Hinge& hinge : mechanism.hinges) {
      if (reached.count(hinge.body_a)) reached.insert(hinge.body_b);
      if (reached.count(hinge.body_b)) reached.insert(hinge.body_a);
    }
    for (const Weld& weld : mechanism.welds) {
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

const ReadingTraits& reading_of(const Mechanism& mechanism, const InertialSensor& sensor,
                                const Instrument& instrument) {
  const ReadingTraits& reading = reading_traits(instrument.reads);
  if (sensor.has_axes() || sensor.hinge < 0) return reading;
  const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(sensor.hinge)];
  return hinge.traits().turns ? reading : reading_traits(reading.of_slide);
}

const Coupling* find_coupling(const Mechanism& mechanism, int hinge) {
  const auto found = std::ranges::find(mechanism.couplings, hinge, &Coupling::hinge);
  return found == mechanism.couplings.end() ? nullptr : &*found;
}

std::vector<double> values_of(const Mechanism& mechanism) {
  std::vector<double> values;
  for (const Parameter& parameter : mechanism.parameters) values.push_back(parameter.value);
  return values;
}

bool has_air_drag(const Mechanism& mechanism, int body) {
  const int index = mechanism.index_of_air(body, AirQuantity::kCoefficient);
  return mechanism.parameters[static_cast<std::size_t>(index)].value != 0.0 ||
         varies(mechanism, index);
}

void require_hinges(const Mechanism& mechanism) {
  const auto refuse = [](const std::string& name, const char* what) {
    throw std::invalid_argument("joint \"" + name + "\" " + what +
                                ", which a SPOOK simulator does not support; "
                                "request physical parameters");
  };
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(j)];
    if (!hinge.traits().in_spook) refuse(hinge.name, hinge.traits().verb);
    if (hinge.gear_ratio != 0.0) refuse(hinge.name, "has a rotor that turns with its parent");
    if (find_coupling(mechanism, j) != nullptr) refuse(hinge.name, "follows another joint");
    if (hinge.stops_lower || hinge.stops_upper) refuse(hinge.name, "has end stops");
    if (hinge.control_noise != 0.0) refuse(hinge.name, "has control noise");
    FrictionLaws::each([&]<typename Law>(int law) {
      if (Law::kInSpook || !has_law(mechanism, j, law)) return;
      refuse(hinge.name, (std::string("has ") + Law::kWhat).c_str());
    });
  }
  if (const auto late = first_late(mechanism)) refuse(late->name, "has an encoder with a delay");
  if (!mechanism.welds.empty())
    refuse(mechanism.welds.front().name, "fixes two bodies to each other");
  for (const Hinge& hinge : mechanism.hinges) {
    for (const int body : {hinge.body_a, hinge.body_b}) {
      if (body == Hinge::kGround) continue;
      if (mechanism.bodies[static_cast<std::size_t>(body)].massless) {
        refuse(hinge.name, "moves a body without mass");
      }
      if (has_air_drag(mechanism, body)) refuse(hinge.name, "moves a body with air drag");
    }
  }
}

void take_values(const Mechanism& from, Mechanism& to) {
  for (std::size_t i = 0; i < to.parameters.size(); ++i) {
    to.parameters[i].value = from.parameters[i].value;
  }
}

std::vector<std::string> find_faults(const Mechanism& mechanism, InertiaCheck inertias) {
  std::vector<std::string> faults;
  std::set<std::string> names = {"gravity", "ground"};
  const auto check_name = [&](const std::string& name, const char* kind) {
    if (name.empty()) faults.push_back(std::string("a ") + kind + " has no name");
    if (!names.insert(name).second) {
      faults.push_back(std::string(kind) + " \"" + name + "\": this name is already used");
    }
  };
  for (const Body& body : mechanism.bodies) check_name(body.name, "body");
  for (const Hinge& hinge : mechanism.hinges) check_name(hinge.name, "joint");
  for (const Weld& weld : mechanism.welds) check_name(weld.name, "fixed joint");
  for (const BodyEncoder& each : mechanism.body_encoders) check_name(each.name, "encoder");
  for (const InertialSensor& each : mechanism.inertial_sensors) {
    check_name(each.name, each.traits().what);
    if (each.body < 0 || each.body >= mechanism.body_count()) {
      faults.push_back("sensor \"" + each.name + "\" is attached to no body");
    }
    const bool is_at_joint = each.traits().of == SensorTraits::Of::kJoint;
    if (is_at_joint && (each.hinge < 0 || each.hinge >= mechanism.hinge_count())) {
      faults.push_back("sensor \"" + each.name + "\" is attached to no joint");
    }
  }
  if (mechanism.bodies.empty()) faults.push_back("the mechanism has no bodies");
  for (const Hinge& hinge : mechanism.hinges) check_hinge(mechanism, hinge, faults);
  for (const Weld& weld : mechanism.welds) {
    check_joint(mechanism, weld, "fixed joint \"" + weld.name + "\": ", faults);
  }
  check_couplings(mechanism, faults);
  if (!faults.empty()) return faults;
  for (const InertialSensor& each : mechanism.inertial_sensors) {
    if (!each.traits().needs_tree || is_tree(mechanism)) continue;
    faults.push_back("sensor \"" + each.name + "\" measures the load of joint \"" +
                     mechanism.hinges[static_cast<std::size_t>(each.hinge)].name +
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
