#include "service/rig/parameters/parameter_edits.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "estimator/model/encoder.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/spelling_suggestions.hpp"
#include "service/messages/message_text.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

struct Assignment {
  std::string name;
  std::string value;  // empty: none
};

Assignment split(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, ""};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// Returns how the user wrote a change, e.g. "--fix arm.m=1", or "fix={'arm.m': 1}" in Python.
std::string asked(const ParameterEdits& edits, std::string what, const Assignment& edit) {
  const bool value = !edit.value.empty();
  if (edits.from_python) std::ranges::replace(what, '-', '_');
  if (!edits.from_python) return "--" + what + " " + edit.name + (value ? "=" + edit.value : "");
  if (value) return what + "={'" + edit.name + "': " + edit.value + "}";
  return what + "=['" + edit.name + "']";
}

/// Returns the parameters that an edit concerns: the one with this name, or all that match a
/// pattern such as "arm.*", without dependent ones.
std::vector<estimator::Parameter*> parameters_of(const ParameterEdits& edits,
                                                 const std::string& what, const std::string& name,
                                                 estimator::Mechanism& mechanism) {
  const char* const lister = edits.from_python ? "Rig.parameters" : "rigcal info RIG";
  const std::string place = asked(edits, what, {name, ""});
  if (name.find_first_of("*?[") == std::string::npos) {
    return {&find_required_parameter(place, name, mechanism, lister)};
  }
  std::vector<estimator::Parameter*> found;
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    if (estimator::find_dependency(mechanism, static_cast<int>(i)) != nullptr) continue;
    estimator::Parameter& parameter = mechanism.parameters[i];
    if (fnmatch(name.c_str(), parameter.name.c_str(), 0) == 0) found.push_back(&parameter);
  }
  if (found.empty()) {
    throw proto::InputError("{}: no parameter matches this pattern ({} lists all)", place, lister);
  }
  return found;
}

void set_value(const std::string& place, const Assignment& edit, estimator::Parameter& parameter) {
  double value = 0.0;
  const char* end = edit.value.data() + edit.value.size();
  const auto result = std::from_chars(edit.value.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end || !std::isfinite(value)) {
    throw proto::InputError("{}: {:?} is not a number; write {}=VALUE in {}", place, edit.value,
                            edit.name, parameter.unit);
  }
  if (value < parameter.lower || value > parameter.upper) {
    throw proto::InputError(
        "{}: lies outside its bounds [{}, {}] {}; "
        "correct the value, or the bounds in the rig file",
        place, format_number(parameter.lower, 6), format_number(parameter.upper, 6),
        parameter.unit);
  }
  parameter.value = value;
}

/// Returns the names of the sensors in use, first the encoders, then the other sensors.
std::vector<std::string> used_sensors(const estimator::Mechanism& mechanism) {
  std::vector<std::string> names;
  for (const estimator::Encoder& sensor : estimator::used_encoders(mechanism)) {
    names.push_back(sensor.name);
  }
  for (const estimator::Sensor& sensor : mechanism.sensors) {
    if (!estimator::is_held_out(mechanism, sensor.name)) names.push_back(sensor.name);
  }
  return names;
}

void hold_out(const std::string& place, const std::string& name, estimator::Mechanism& mechanism) {
  const std::vector<std::string> sensors = used_sensors(mechanism);
  if (std::ranges::count(sensors, name) == 0) {
    throw proto::InputError("{}: no such sensor is in use. Use one of {}", place,
                            join_items(sensors));
  }
  mechanism.held_out.push_back(name);
  if (estimator::used_encoders(mechanism).empty()) {
    throw proto::InputError("{}: this would hold out all encoders. Keep at least one", place);
  }
}

}  // namespace

estimator::Parameter& find_required_parameter(const std::string& asked, const std::string& name,
                                              estimator::Mechanism& mechanism, const char* lister) {
  const int index = mechanism.find_parameter(name);
  if (index >= 0) {
    if (estimator::find_dependency(mechanism, index) != nullptr) {
      throw proto::InputError(
          "{}: this parameter depends on other parameters in the rig file. "
          "Change the other parameters, or remove the dependency",
          asked);
    }
    return mechanism.parameters[static_cast<std::size_t>(index)];
  }
  std::vector<std::string> names;
  for (const estimator::Parameter& parameter : mechanism.parameters) {
    names.push_back(parameter.name);
  }
  const std::vector<std::string> near = proto::find_similar_names(name, names, 3);
  throw proto::InputError(
      "{}: the rig has no such parameter; did you mean {}, {} or {}? ({} lists all)", asked,
      near.at(0), near.at(1), near.at(2), lister);
}

void apply_parameter_edits(const ParameterEdits& edits, estimator::Mechanism& mechanism) {
  for (const std::string& text : edits.start) {
    const Assignment edit = split(text);
    for (estimator::Parameter* const each : parameters_of(edits, "start", edit.name, mechanism)) {
      set_value(asked(edits, "start", edit), edit, *each);
    }
  }
  for (const std::string& name : edits.free) {
    for (estimator::Parameter* const each : parameters_of(edits, "free", name, mechanism)) {
      each->free = true;
    }
  }
  for (const std::string& text : edits.fix) {
    const Assignment edit = split(text);
    for (estimator::Parameter* const each : parameters_of(edits, "fix", edit.name, mechanism)) {
      if (text.find('=') != std::string::npos) set_value(asked(edits, "fix", edit), edit, *each);
      each->free = false;
    }
  }
  estimator::apply_dependencies(mechanism);
  for (const std::string& name : edits.hold_out) {
    hold_out(asked(edits, "hold-out", {name, ""}), name, mechanism);
  }
}

std::vector<std::string> describe_parameter_changes(const estimator::Mechanism& file,
                                                    const estimator::Mechanism& changed) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < changed.parameters.size(); ++i) {
    const estimator::Parameter& is = changed.parameters[i];
    const estimator::Parameter& was = file.parameters[i];
    if (estimator::find_dependency(changed, static_cast<int>(i)) != nullptr) continue;
    if (is.value == was.value && is.free == was.free) continue;
    texts.push_back(is.name + (is.free ? " is estimated, initial value " : " is fixed at ") +
                    format_number(is.value, 6) + " " + is.unit + "; in the rig file it is " +
                    (was.free ? "estimated, initial value " : "fixed at ") +
                    format_number(was.value, 6) + " " + was.unit);
  }
  return texts;
}

void require_valid_mechanism(const estimator::Mechanism& mechanism) {
  const std::string text =
      join_items(estimator::find_mechanism_errors(mechanism, estimator::InertiaCheck::kFixed),
                 format_error, "; ");
  if (!text.empty()) throw std::invalid_argument("the rig cannot be used: " + text);
}

}  // namespace service
