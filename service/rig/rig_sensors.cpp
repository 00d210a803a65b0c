#include "service/rig/rig_sensors.hpp"

#include <algorithm>
#include <cmath>

#include "service/rig/parameters/message_fields.hpp"
#include "service/rig/rig_joints.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using estimator::Sensor;
using estimator::SensorParameter;
using google::protobuf::Message;

/// Type of sensor in a rig file.
struct SensorType {
  const char *field, *what;  ///< field of the rig, and name of the type for messages
  Sensor::Kind kind;
};

// In the order of the mechanism's sensors.
constexpr SensorType kTypes[] = {
    {"inertial_sensor", "inertial sensor", Sensor::Kind::kInertial},
    {"torque_sensor", "torque sensor", Sensor::Kind::kJointTorque},
    {"force_torque_sensor", "force/torque sensor", Sensor::Kind::kForceTorque},
    {"position_sensor", "position sensor", Sensor::Kind::kPosition},
    {"distance_sensor", "distance sensor", Sensor::Kind::kDistance}};

/// Calls `visit(type, message, i)` for every sensor of a rig file, in the order of the mechanism. A
/// sensor is the i-th of its type.
template <typename Visit>
void for_each_sensor(const v1::Rig& rig, const Visit& visit) {
  const auto& in = *rig.GetReflection();
  for (const SensorType& type : kTypes) {
    const auto* field = find_message_field(rig, type.field);
    for (int i = 0; i < in.FieldSize(rig, field); ++i) {
      visit(type, in.GetRepeatedMessage(rig, field, i), i);
    }
  }
}

/// Returns the index of the moving joint that a sensor names.
int find_joint(const estimator::Mechanism& mechanism, const std::string& name,
               const proto::TextLocator& place) {
  const auto found = std::ranges::find(mechanism.joints, name, &estimator::Joint::name);
  if (found != mechanism.joints.end()) return static_cast<int>(found - mechanism.joints.begin());
  const std::string known = join_items(mechanism.joints, &estimator::Joint::name);
  if (name.empty()) place.fail("names no joint; write joint: with one of " + known);
  place.at("joint").fail("no moving joint is called \"" + name + "\"; use one of " + known);
}

void check_torque_sensor(const v1::TorqueSensor& source, const estimator::Joint& joint,
                         const proto::TextLocator& place) {
  if (source.delay().free()) {
    place.at("delay").fail("torque sensor \"" + source.name() +
                           "\": the delay of a motor torque sensor cannot be estimated, "
                           "since the torque jumps with the control. Give its value without free");
  }
  if (!joint.motor.present) {
    place.at("joint").fail(
        "torque sensor \"" + source.name() + "\" measures the motor of joint \"" + joint.name +
        "\", which has none. Add motor { } to the joint or write measured_torque: JOINT");
  }
}

Sensor make_sensor(const SensorType& type, const Message& source, const proto::TextLocator& place,
                   const estimator::Mechanism& mechanism) {
  Sensor sensor{.name = get_field_text(source, "name"), .kind = type.kind};
  const auto& [first, second] = sensor.kind_traits().instruments;
  if (*first.name != '\0' && !has_field(source, first.name) && !has_field(source, second.name)) {
    place.fail(std::string(type.what) + " \"" + sensor.name + "\" measures nothing. Add " +
               first.name + " { } or " + second.name + " { }");
  }
  if (find_message_field(source, "joint") != nullptr) {
    sensor.joint = find_joint(mechanism, get_field_text(source, "joint"), place);
    const estimator::Joint& joint = mechanism.joints[static_cast<std::size_t>(sensor.joint)];
    sensor.body = joint.body_b;
    const auto* torque = dynamic_cast<const v1::TorqueSensor*>(&source);
    if (torque != nullptr && torque->measured_torque() == v1::TorqueSensor::MOTOR) {
      check_torque_sensor(*torque, joint, place);
      sensor.kind = Sensor::Kind::kMotorTorque;
    }
  } else if (get_field_text(source, "body") == "ground") {
    place.at("body").fail("a sensor cannot be on the ground. Name the body that carries it");
  } else {
    sensor.body = find_body(mechanism, get_field_text(source, "body"), "body", place, false);
  }
  if (sensor.has_orientation()) sensor.frame = read_sensor_frame(source, place);
  return sensor;
}

/// Field of a sensor or of its instruments, with the first quantity that the field sets.
struct QuantityField {
  const char* field;
  SensorParameter first;
};

constexpr QuantityField kSensorFields[] = {{"point", SensorParameter::kPointX},
                                           {"mounting", SensorParameter::kMountX},
                                           {"anchor", SensorParameter::kMountX},
                                           {"delay", SensorParameter::kDelay}};
constexpr QuantityField kInstrumentFields[2][3] = {
    {{"bias", SensorParameter::kRateBiasX},
     {"scale", SensorParameter::kRateScaleX},
     {"cross_axis", SensorParameter::kRateCrossXY}},
    {{"bias", SensorParameter::kForceBiasX},
     {"scale", SensorParameter::kForceScaleX},
     {"cross_axis", SensorParameter::kForceCrossXY}}};

/// Sets the priors of cross-axis sensitivities from their common deviation.
void set_cross_prior(const v1::CrossAxis& source, estimator::Parameter& parameter) {
  constexpr double kPercent = 0.01;
  if (!(source.deviation_percent() > 0.0)) return;
  parameter.free = true;  // a given value is the initial value
  if (std::isfinite(parameter.prior_standard_deviation)) return;
  parameter.prior_mean = 0.0;
  parameter.prior_standard_deviation = kPercent * source.deviation_percent();
}

/// Reads the parameters in some fields of a message: one parameter, or one for each axis or pair of
/// axes. Fields that the message's type lacks are skipped.
/// @param parameter  returns the sensor's parameter for a quantity
template <typename Fields, typename Find>
void read_fields(const Fields& fields, const Message& message, const proto::TextLocator& place,
                 const Find& parameter, const ReadParameter& read) {
  for (const auto& [name, first] : fields) {
    const auto* field = find_message_field(message, name);
    if (field == nullptr) continue;
    if (field->message_type() == v1::Parameter::descriptor()) {
      read(message, name, place, parameter(first, 0));
      continue;
    }
    const Message& parts = get_field_message(message, name);
    for (int k = 0; k < parts.GetDescriptor()->field_count(); ++k) {
      const auto* part = parts.GetDescriptor()->field(k);
      if (part->message_type() == nullptr) continue;
      read(parts, part->name().c_str(), place.at(name), parameter(first, k));
      if (const auto* cross = dynamic_cast<const v1::CrossAxis*>(&parts)) {
        set_cross_prior(*cross, parameter(first, k));
      }
    }
  }
}

}  // namespace

std::optional<InstrumentProperties> find_instrument_properties(const v1::Rig& rig,
                                                               const Sensor& sensor,
                                                               int instrument) {
  const char* const name = sensor.kind_traits().instruments[instrument].name;
  std::optional<InstrumentProperties> facts;
  for_each_sensor(rig, [&](const SensorType&, const Message& message, int) {
    if (get_field_text(message, "name") != sensor.name) return;
    if (*name != '\0' && !has_field(message, name)) return;
    const Message& own = *name != '\0' ? get_field_message(message, name) : message;
    facts.emplace();
    for (int k = 0; k < own.GetDescriptor()->field_count(); ++k) {
      const auto& field = own.GetDescriptor()->field(k)->name();
      if (field.starts_with("range")) facts->range = get_field_number(own, field);
      if (field == "torque_per_A") {
        facts->units.push_back({"AMPERE", "amperes", field.c_str(), get_field_number(own, field)});
      }
      if (!field.starts_with("counts_per_")) continue;
      const double counts = get_field_number(own, field);
      facts->units.push_back({"COUNT", "counts", field.c_str(), counts > 0.0 ? 1.0 / counts : 0.0});
    }
  });
  return facts;
}

void add_sensors(const v1::Rig& rig, const proto::TextLocator& root,
                 estimator::Mechanism& mechanism, const NameCheck& check_name) {
  for_each_sensor(rig, [&](const SensorType& type, const Message& message, int i) {
    const proto::TextLocator place = root.at(type.field, i);
    check_name(get_field_text(message, "name"), type.what, place);
    mechanism.sensors.push_back(make_sensor(type, message, place, mechanism));
  });
}

void read_sensor_parameters(const v1::Rig& rig, const proto::TextLocator& root,
                            estimator::Mechanism& mechanism, const ReadParameter& read) {
  int sensor = 0;
  for_each_sensor(rig, [&](const SensorType& type, const Message& message, int i) {
    const proto::TextLocator place = root.at(type.field, i);
    const auto parameter = [&](SensorParameter first, int offset) -> estimator::Parameter& {
      return mechanism.sensor_parameter(
          sensor, static_cast<SensorParameter>(static_cast<int>(first) + offset));
    };
    read_fields(kSensorFields, message, place, parameter, read);
    for (std::size_t k = 0; k < 2; ++k) {
      const std::string name = estimator::sensor_traits(type.kind).instruments[k].name;
      if (!name.empty()) {
        read_fields(kInstrumentFields[k], get_field_message(message, name), place.at(name),
                    parameter, read);
      } else if (k == 0) {
        read_fields(kInstrumentFields[k], message, place, parameter, read);
      }
    }
    ++sensor;
  });
}

}  // namespace service
