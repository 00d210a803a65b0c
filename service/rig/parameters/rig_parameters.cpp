#include "service/rig/parameters/rig_parameters.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/model/joint_stop.hpp"
#include "proto/rig.pb.h"
#include "service/rig/parameters/message_fields.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using estimator::AirDragParameter;
using estimator::ContactParameter;
using estimator::JointParameter;
using estimator::Mechanism;
using estimator::Parameter;
using estimator::ParameterDependency;
using estimator::SensorParameter;
using google::protobuf::Message;

constexpr double kAgreement = 1e-6;  // relative tolerance between a stated value and its dependency

Parameter& at(Mechanism& mechanism, int index) {
  return mechanism.parameters[static_cast<std::size_t>(index)];
}

int find(const std::string& name, const proto::TextLocator& place, const Mechanism& mechanism) {
  const int index = mechanism.find_parameter(name);
  if (index < 0) {
    place.at("parameter")
        .fail(
            "no parameter is called {:?}. Write a name such as A.J_zz, 1.b or 1.a_x, "
            "or the name of a quantity. "
            "rigcal info lists the names for a rig file without dependencies",
            name);
  }
  return index;
}

ParameterDependency read_tie(const v1::Dependency& source, const proto::TextLocator& place,
                             const Mechanism& mechanism) {
  ParameterDependency tie{.parameter = find(source.parameter(), place, mechanism),
                          .constant = source.constant()};
  if (source.term_size() == 0) {
    place.fail(
        "{:?} has a dependency without terms. "
        "Add term {{ parameter: \"...\" }}, or give the parameter a value instead",
        source.parameter());
  }
  for (int i = 0; i < source.term_size(); ++i) {
    const v1::Dependency::Term& term = source.term(i);
    const double factor = term.has_factor() ? term.factor() : 1.0;
    tie.terms.push_back({find(term.parameter(), place.at("term", i), mechanism), factor});
  }
  const Parameter& target = mechanism.parameters[static_cast<std::size_t>(tie.parameter)];
  if (target.free) {
    place.fail(
        "{:?} is dependent, so it cannot be free as well; remove its free: true, or "
        "the dependency",
        target.name);
  }
  if (target.lower == target.upper) {
    place.fail("{:?} belongs to a massless body and is always 0. Remove the dependency",
               target.name);
  }
  return tie;
}

/// Field and quantities of the x, y or z coordinate of centres of mass and of points on bodies.
struct Axis {
  const char* field;
  const char* suffix;
  JointParameter parent, child;
  SensorParameter sensor;
  AirDragParameter air;
  ContactParameter contact;
};
constexpr Axis kAxes[] = {
    {"x", ".c_x", JointParameter::kPointAx, JointParameter::kPointBx, SensorParameter::kPointX,
     AirDragParameter::kPointX, ContactParameter::kPointX},
    {"y", ".c_y", JointParameter::kPointAy, JointParameter::kPointBy, SensorParameter::kPointY,
     AirDragParameter::kPointY, ContactParameter::kPointY},
    {"z", ".c_z", JointParameter::kPointAz, JointParameter::kPointBz, SensorParameter::kPointZ,
     AirDragParameter::kPointZ, ContactParameter::kPointZ}};

/// Makes a coordinate of a point on a body depend on the body's centre of mass.
void tie_point(int point, int centre, const proto::TextLocator& place, Mechanism& mechanism,
               std::vector<ParameterDependency>& ties) {
  const Parameter& parameter = at(mechanism, point);
  if (parameter.free || std::isfinite(parameter.prior_standard_deviation)) {
    place.fail(
        "{:?} is free or has a prior, but its body has a center_of_mass. "
        "Fix the point, or place the body's frame at the centre of mass",
        parameter.name);
  }
  auto tie = std::ranges::find(ties, point, &ParameterDependency::parameter);
  if (tie == ties.end()) {
    ties.push_back({.parameter = point, .constant = parameter.value});
    tie = ties.end() - 1;
  }
  tie->terms.push_back({centre, -1.0});
}

/// Adds the x, y and z coordinates of a body's centre of mass, in the body's frame, as parameters.
/// @return parameter index of the x coordinate
int add_centre_of_mass(const v1::Body& source, const proto::TextLocator& place,
                       Mechanism& mechanism) {
  const auto first = static_cast<int>(mechanism.parameters.size());
  for (const Axis& axis : kAxes) {
    Parameter centre{.name = source.name() + axis.suffix, .unit = "m"};
    read_parameter(source.center_of_mass(), axis.field, place, centre);
    mechanism.parameters.push_back(centre);
  }
  return first;
}

/// Makes all points on a body depend on the body's centre of mass.
/// @param centre  parameter index of the x coordinate of the centre of mass
void tie_points(int body, int centre, const proto::TextLocator& place, Mechanism& mechanism,
                std::vector<ParameterDependency>& ties) {
  for (const Axis& axis : kAxes) {
    const auto tie_joint = [&](const auto& joint, const auto& index_of) {
      if (joint.body_a == body) tie_point(index_of(axis.parent), centre, place, mechanism, ties);
      if (joint.body_b == body) tie_point(index_of(axis.child), centre, place, mechanism, ties);
    };
    for (int j = 0; j < mechanism.joint_count(); ++j) {
      tie_joint(mechanism.joints[static_cast<std::size_t>(j)], [&](JointParameter quantity) {
        return mechanism.joint_parameter_index(j, quantity);
      });
    }
    for (int w = 0; w < mechanism.fixed_joint_count(); ++w) {
      tie_joint(mechanism.fixed_joints[static_cast<std::size_t>(w)], [&](JointParameter quantity) {
        return mechanism.fixed_joint_parameter_index(w, quantity);
      });
    }
    for (int i = 0; i < mechanism.sensor_count(); ++i) {
      const auto& sensor = mechanism.sensors[static_cast<std::size_t>(i)];
      // A sensor at a joint has the joint's position.
      if (sensor.body != body || sensor.joint >= 0) continue;
      tie_point(mechanism.sensor_parameter_index(i, axis.sensor), centre, place, mechanism, ties);
    }
    for (int i = 0; i < mechanism.contact_count(); ++i) {
      if (mechanism.contacts[static_cast<std::size_t>(i)].body != body) continue;
      tie_point(mechanism.contact_parameter_index(i, axis.contact), centre, place, mechanism, ties);
    }
    const int drag = mechanism.air_drag_parameter_index(body, AirDragParameter::kCoefficient);
    if (has_air_drag(mechanism, body) ||
        std::ranges::count(ties, drag, &ParameterDependency::parameter) > 0) {
      tie_point(mechanism.air_drag_parameter_index(body, axis.air), centre, place, mechanism, ties);
    }
    ++centre;
  }
}

/// Checks that the value that the rig file gives for a dependent parameter fits its dependency.
void check_tied_value(const ParameterDependency& tie, double stated_value, bool is_stated,
                      const proto::TextLocator& place, const Mechanism& mechanism) {
  const Parameter& parameter = mechanism.parameters[static_cast<std::size_t>(tie.parameter)];
  const double value = parameter.value;
  if (is_stated && std::abs(stated_value - value) > kAgreement * std::abs(value)) {
    place.fail(
        "{:?} has the value {}, but its dependency gives {}; remove the value, "
        "or correct the dependency",
        parameter.name, format_number(stated_value, 6), format_number(value, 6));
  }
  if (!(value >= parameter.lower && value <= parameter.upper)) {
    place.fail(
        "{:?}: its dependency gives {} {}, outside its bounds [{}, {}]. Correct "
        "the dependency or the values in its terms",
        parameter.name, format_number(value, 6), parameter.unit, format_number(parameter.lower, 6),
        format_number(parameter.upper, 6));
  }
}

void read_drawing(const v1::Body& source, const proto::TextLocator& place, int body,
                  Mechanism& mechanism) {
  if (source.cad_uncertainty_percent() == 0.0) return;
  estimator::Body& own = mechanism.bodies[static_cast<std::size_t>(body)];
  own.cad_uncertainty = 0.01 * source.cad_uncertainty_percent();
  try {
    estimator::check_cad_prior(mechanism, body);
  } catch (const std::invalid_argument& fault) {
    place.at("cad_uncertainty_percent").fail(fault.what());
  }
}

/// Reads the names of the recordings in which a body is present. Such a body must be attached by
/// one fixed joint and carry nothing, so that the rest of the rig does not depend on it.
void read_presence(const v1::Body& source, const proto::TextLocator& place, int body,
                   Mechanism& mechanism) {
  if (source.present_in_recordings_size() == 0) return;
  estimator::Body& own = mechanism.bodies[static_cast<std::size_t>(body)];
  const proto::TextLocator where = place.at("present_in_recordings");
  own.present_in_recordings.assign(source.present_in_recordings().begin(),
                                   source.present_in_recordings().end());
  if (std::ranges::any_of(own.present_in_recordings, &std::string::empty)) {
    where.fail("body \"" + own.name + "\": write names of recordings; * matches any text");
  }
  const auto touches = [&](const auto& joint) {
    return joint.body_a == body || joint.body_b == body;
  };
  if (own.massless || std::ranges::any_of(mechanism.joints, touches) ||
      std::ranges::any_of(mechanism.body_encoders, touches) ||
      std::ranges::any_of(mechanism.sensors,
                          [&](const auto& sensor) { return sensor.body == body; }) ||
      std::ranges::count_if(mechanism.fixed_joints, touches) != 1) {
    where.fail(
        "body {:?}: a body with present_in_recordings must have a mass, be "
        "attached by exactly one FIXED joint and carry nothing",
        own.name);
  }
}

void read_start(const v1::GaussianPrior& source, const proto::TextLocator& place,
                estimator::GaussianPrior& target) {
  if (!(source.standard_deviation() > 0.0)) {
    place.fail("needs a positive standard_deviation");
  }
  target = {source.mean(), source.standard_deviation()};
}

void refuse_start_beyond_stops(const Mechanism& mechanism, int joint,
                               const proto::TextLocator& place) {
  const estimator::Joint& own = mechanism.joints[static_cast<std::size_t>(joint)];
  for (const estimator::JointStop& stop : estimator::joint_end_stops(mechanism)) {
    if (stop.joint != joint || stop.distance_from_stop(own.start.angle.mean) >= 0.0) continue;
    place.fail(
        "joint {:?} has a start_position of {} {}, beyond its stop at {} {}. "
        "Correct the mean or the stop",
        own.name, format_number(own.start.angle.mean, 6), own.units().coordinate,
        format_number(stop.position, 6), own.units().coordinate);
  }
}

/// Returns the locations of priors and CAD uncertainties in the rig file, by parameter name.
std::map<std::string, std::string> prior_locations(
    const v1::Rig& rig, const proto::TextLocator& root,
    const std::map<std::string, proto::TextLocator>& places, const Mechanism& mechanism) {
  std::map<std::string, std::string> found;
  for (const estimator::Parameter& parameter : mechanism.parameters) {
    const auto place = places.find(parameter.name);
    if (std::isinf(parameter.prior_standard_deviation) || place == places.end()) continue;
    found[parameter.name] = place->second.at("prior_standard_deviation").where();
  }
  for (int i = 0; i < rig.body_size(); ++i) {
    if (std::isinf(mechanism.bodies[static_cast<std::size_t>(i)].cad_uncertainty)) continue;
    const std::string where = root.at("body", i).at("cad_uncertainty_percent").where();
    const estimator::InertiaPrior prior(mechanism, i);
    for (const int index : prior.parameters()) {
      if (index >= 0) {
        found[mechanism.parameters[static_cast<std::size_t>(index)].name] = where;
      }
    }
  }
  return found;
}

}  // namespace

void add_rig_quantities(const v1::Rig& rig, const proto::TextLocator& root, Mechanism& mechanism) {
  for (int i = 0; i < rig.quantity_size(); ++i) {
    const v1::FreeQuantity& source = rig.quantity(i);
    const proto::TextLocator place = root.at("quantity", i);
    if (source.name().empty()) place.fail("the quantity has no name; write name: \"...\"");
    if (mechanism.find_parameter(source.name()) >= 0) {
      place.at("name").fail("\"" + source.name() + "\": the name is used by a parameter");
    }
    Parameter parameter{.name = source.name(), .unit = source.unit().empty() ? "-" : source.unit()};
    if (!source.has_parameter())
      place.fail("\"" + source.name() + "\" needs a value; write parameter { value: ... }");
    read_parameter(source, "parameter", place, parameter);
    mechanism.parameters.push_back(parameter);
  }
}

void add_parameter_dependencies(const v1::Rig& rig, const proto::TextLocator& root,
                                const std::set<std::string>& stated, Mechanism& mechanism) {
  std::vector<int> centres;  // per body; −1: the frame's origin is the centre of mass
  for (int i = 0; i < rig.body_size(); ++i) {
    const proto::TextLocator place = root.at("body", i).at("center_of_mass");
    centres.push_back(
        rig.body(i).has_center_of_mass() ? add_centre_of_mass(rig.body(i), place, mechanism) : -1);
  }
  std::vector<ParameterDependency> ties;
  for (int i = 0; i < rig.dependency_size(); ++i) {
    const proto::TextLocator place = root.at("dependency", i);
    ParameterDependency tie = read_tie(rig.dependency(i), place, mechanism);
    if (std::ranges::find(ties, tie.parameter, &ParameterDependency::parameter) != ties.end()) {
      place.fail("{:?} has two dependencies; write one dependency with all terms",
                 rig.dependency(i).parameter());
    }
    ties.push_back(std::move(tie));
  }
  const std::vector<ParameterDependency> in_file = ties;
  for (int i = 0; i < rig.body_size(); ++i) {
    const int centre = centres[static_cast<std::size_t>(i)];
    if (centre < 0) continue;
    tie_points(i, centre, root.at("body", i).at("center_of_mass"), mechanism, ties);
  }
  // A point on a body with a centre of mass is stated in the body's frame.
  std::vector<bool> is_moved;
  for (std::size_t i = 0; i < in_file.size(); ++i) {
    is_moved.push_back(ties[i].terms.size() != in_file[i].terms.size());
  }
  if (const int circle = estimator::resolve_dependencies(ties); circle >= 0) {
    const auto found = std::ranges::find(in_file, circle, &ParameterDependency::parameter);
    const proto::TextLocator place =
        found == in_file.end() ? root
                               : root.at("dependency", static_cast<int>(found - in_file.begin()));
    place.fail("{:?} depends on itself through dependencies. Remove the circular dependency",
               at(mechanism, circle).name);
  }
  const std::vector<Parameter> before = mechanism.parameters;
  mechanism.dependencies = std::move(ties);
  estimator::apply_dependencies(mechanism);
  for (std::size_t i = 0; i < in_file.size(); ++i) {
    const Parameter& stated_parameter = before[static_cast<std::size_t>(in_file[i].parameter)];
    check_tied_value(in_file[i], stated_parameter.value,
                     stated.contains(stated_parameter.name) && !is_moved[i],
                     root.at("dependency", static_cast<int>(i)), mechanism);
  }
}

bool is_dependent_parameter(const v1::Rig& rig, const std::string& parameter) {
  return std::ranges::any_of(
      rig.dependency(), [&](const v1::Dependency& tie) { return tie.parameter() == parameter; });
}

bool read_parameter(const Message& message, const char* field, const proto::TextLocator& parent,
                    Parameter& target) {
  if (!has_field(message, field)) return false;
  const auto& source = static_cast<const v1::Parameter&>(get_field_message(message, field));
  const proto::TextLocator place = parent.at(field);
  const std::string who = "\"" + target.name + "\": ";
  if (!source.has_value() && !source.free()) {
    place.fail(who + "has neither a value nor free: true. Write value: ... [" + target.unit + "]");
  }
  if (source.has_value()) target.value = source.value();
  if (source.has_lower() && source.lower() < target.lower) {
    place.at("lower").fail("{}the lower bound must be at least {} {}", who,
                           format_number(target.lower, 6), target.unit);
  }
  if (source.has_lower()) target.lower = source.lower();
  if (source.has_upper()) target.upper = source.upper();
  if (!(target.lower <= target.upper)) {
    place.fail("{}the lower bound {} lies above the upper bound {}; exchange them", who,
               format_number(target.lower, 6), format_number(target.upper, 6));
  }
  if (target.value < target.lower || target.value > target.upper) {
    place.at("value").fail(
        "{}value {} {} lies outside its bounds [{}, {}]; correct the value or the bounds", who,
        format_number(target.value, 6), target.unit, format_number(target.lower, 6),
        format_number(target.upper, 6));
  }
  target.free = source.free();
  target.prior_mean = source.has_prior_mean() ? source.prior_mean() : target.value;
  if (source.has_prior_mean() && !source.has_prior_standard_deviation()) {
    place.at("prior_mean").fail(who + "a prior needs prior_standard_deviation too");
  }
  if (source.has_prior_standard_deviation()) {
    target.prior_standard_deviation = source.prior_standard_deviation();
  }
  if (source.tolerance_percent() != 0.0) {
    if (target.free) {
      place.at("tolerance_percent")
          .fail(who + "a free parameter has no tolerance; use prior_standard_deviation instead");
    }
    if (target.value == 0.0) {
      place.at("tolerance_percent")
          .fail(who +
                "a percentage of a value of 0 is meaningless; use free: true and "
                "prior_standard_deviation instead");
    }
    target.tolerance = 0.01 * source.tolerance_percent();
  }
  return source.has_value();
}

bool allows_negative_value(const Message& message, const char* field) {
  const auto& source = static_cast<const v1::Parameter&>(get_field_message(message, field));
  return source.value() < 0.0 || source.lower() < 0.0;
}

std::map<std::string, std::string> read_priors(
    const v1::Rig& rig, const proto::TextLocator& root,
    const std::map<std::string, proto::TextLocator>& places, Mechanism& mechanism) {
  for (int i = 0; i < rig.body_size(); ++i) {
    const proto::TextLocator place = root.at("body", i);
    read_drawing(rig.body(i), place, i, mechanism);
    read_presence(rig.body(i), place, i, mechanism);
  }
  for (int i = 0; i < rig.joint_size(); ++i) {
    const v1::Joint& source = rig.joint(i);
    if (!source.has_start_position() && !source.has_start_speed()) continue;
    const proto::TextLocator place = root.at("joint", i);
    const auto joint = std::ranges::find(mechanism.joints, source.name(), &estimator::Joint::name);
    if (joint == mechanism.joints.end()) {
      place.fail("joint \"" + source.name() + "\" is fixed; it has neither a position nor a speed");
    }
    if (source.has_start_position()) {
      read_start(source.start_position(), place.at("start_position"), joint->start.angle);
      refuse_start_beyond_stops(mechanism, static_cast<int>(joint - mechanism.joints.begin()),
                                place.at("start_position"));
    }
    if (source.has_start_speed()) {
      read_start(source.start_speed(), place.at("start_speed"), joint->start.rate);
    }
  }
  return prior_locations(rig, root, places, mechanism);
}

}  // namespace service
