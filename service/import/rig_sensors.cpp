#include "service/import/rig_sensors.hpp"

#include <cmath>

#include "service/import/rig_sides.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using estimator::InertialQuantity;
using estimator::InertialSensor;
using google::protobuf::Message;

/// A joint that moves, by its name.
int find_joint(const estimator::Mechanism& mechanism, const std::string& name,
               const proto::TextLocator& place) {
  std::string known;
  for (int j = 0; j < mechanism.hinge_count(); ++j) {
    const std::string& own = mechanism.hinges[static_cast<std::size_t>(j)].name;
    if (own == name) return j;
    known += (j > 0 ? ", " : "") + own;
  }
  if (name.empty()) place.fail("names no joint; write hinge: with one of " + known);
  place.at("hinge").fail("no joint that moves is called '" + name + "'; use one of " + known);
}

/// The body, not the ground, that a sensor tells of.
template <typename Sensor>
int moving_body(const Sensor& source, const proto::TextLocator& place,
                const estimator::Mechanism& mechanism) {
  if (source.body() == "ground") {
    place.at("body").fail("the ground does not move; name the body that the sensor is on");
  }
  return find_body(mechanism, source.body(), "body", place, false);
}

void add_inertial(const v1::InertialSensor& source, const proto::TextLocator& place,
                  estimator::Mechanism& mechanism) {
  if (!source.has_gyroscope() && !source.has_accelerometer()) {
    place.fail("inertial sensor '" + source.name() +
               "' reads nothing; add gyroscope { } or accelerometer { }");
  }
  mechanism.inertial_sensors.push_back({.name = source.name(),
                                        .body = moving_body(source, place, mechanism),
                                        .frame = read_sensor_frame(source, place)});
}

void add_torque(const v1::TorqueSensor& source, const proto::TextLocator& place,
                estimator::Mechanism& mechanism) {
  const int joint = find_joint(mechanism, source.hinge(), place);
  const estimator::Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(joint)];
  const bool is_motor = source.of() == v1::TorqueSensor::MOTOR;
  if (is_motor && source.delay().free()) {
    place.at("delay").fail(
        "torque sensor '" + source.name() +
        "': a motor's torque jumps with the control, so by how much its readings "
        "are late is not estimated; give the value without free");
  }
  if (is_motor && !hinge.motorised) {
    place.at("hinge").fail("torque sensor '" + source.name() + "' is of the motor of hinge '" +
                           hinge.name +
                           "', which has none; add motor { } to it or write of: JOINT");
  }
  mechanism.inertial_sensors.push_back(
      {.name = source.name(),
       .body = hinge.body_b,
       .kind = is_motor ? InertialSensor::Kind::kMotorTorque : InertialSensor::Kind::kJointTorque,
       .hinge = joint});
}

void add_force_torque(const v1::ForceTorqueSensor& source, const proto::TextLocator& place,
                      estimator::Mechanism& mechanism) {
  const int joint = find_joint(mechanism, source.hinge(), place);
  if (!source.has_moment() && !source.has_force()) {
    place.fail("force/torque sensor '" + source.name() +
               "' reads nothing; add moment { } or force { }");
  }
  mechanism.inertial_sensors.push_back(
      {.name = source.name(),
       .body = mechanism.hinges[static_cast<std::size_t>(joint)].body_b,
       .frame = read_sensor_frame(source, place),
       .kind = InertialSensor::Kind::kForceTorque,
       .hinge = joint});
}

void add_position(const v1::PositionSensor& source, const proto::TextLocator& place,
                  estimator::Mechanism& mechanism) {
  mechanism.inertial_sensors.push_back({.name = source.name(),
                                        .body = moving_body(source, place, mechanism),
                                        .frame = read_sensor_frame(source, place),
                                        .kind = InertialSensor::Kind::kPosition});
}

void add_distance(const v1::DistanceSensor& source, const proto::TextLocator& place,
                  estimator::Mechanism& mechanism) {
  mechanism.inertial_sensors.push_back({.name = source.name(),
                                        .body = moving_body(source, place, mechanism),
                                        .kind = InertialSensor::Kind::kDistance});
}

/// Reads the parameters of one sensor.
class SensorReader {
 public:
  SensorReader(int sensor, estimator::Mechanism& mechanism, const ParameterRead& read)
      : sensor_(sensor), mechanism_(mechanism), read_(read) {}

  void one(const Message& message, const char* field, const proto::TextLocator& place,
           InertialQuantity quantity) const {
    read_(message, field, place, mechanism_.inertial_parameter(sensor_, quantity));
  }

  /// @param first  of the three quantities
  void three(const Message& message, const proto::TextLocator& place,
             InertialQuantity first) const {
    for (int axis = 0; axis < 3; ++axis) {
      static constexpr const char* kFields[] = {"x", "y", "z"};
      one(message, kFields[axis], place,
          static_cast<InertialQuantity>(static_cast<int>(first) + axis));
    }
  }

  /// The first instrument of a sensor: a gyroscope, or what reads moments.
  template <typename Instrument>
  void first(const Instrument& source, const proto::TextLocator& place) const {
    three(source.bias(), place.at("bias"), InertialQuantity::kRateBiasX);
    three(source.scale(), place.at("scale"), InertialQuantity::kRateScaleX);
    cross(source.cross_axis(), place.at("cross_axis"), InertialQuantity::kRateCrossXY);
  }

  /// The second: an accelerometer, or what reads forces.
  template <typename Instrument>
  void second(const Instrument& source, const proto::TextLocator& place) const {
    three(source.bias(), place.at("bias"), InertialQuantity::kForceBiasX);
    three(source.scale(), place.at("scale"), InertialQuantity::kForceScaleX);
    cross(source.cross_axis(), place.at("cross_axis"), InertialQuantity::kForceCrossXY);
  }

  /// What sensors of six axes have in common.
  template <typename Sensor>
  void place(const Sensor& source, const proto::TextLocator& place) const {
    three(source.point(), place.at("point"), InertialQuantity::kPointX);
    three(source.mounting(), place.at("mounting"), InertialQuantity::kMountX);
    one(source, "delay", place, InertialQuantity::kDelay);
  }

  /// @param first  of the six quantities
  void cross(const v1::CrossAxis& source, const proto::TextLocator& place,
             InertialQuantity first) const {
    static constexpr const char* kFields[] = {"xy", "xz", "yx", "yz", "zx", "zy"};
    constexpr double kPercent = 0.01;
    for (int k = 0; k < 6; ++k) {
      const auto quantity = static_cast<InertialQuantity>(static_cast<int>(first) + k);
      one(source, kFields[k], place, quantity);
      if (!(source.deviation_percent() > 0.0)) continue;
      estimator::Parameter& known = mechanism_.inertial_parameter(sensor_, quantity);
      known.free = true;  // a value of its own is where it starts
      if (std::isfinite(known.prior_standard_deviation)) continue;
      known.prior_mean = 0.0;
      known.prior_standard_deviation = kPercent * source.deviation_percent();
    }
  }

 private:
  int sensor_;
  estimator::Mechanism& mechanism_;
  const ParameterRead& read_;
};

}  // namespace

void add_sensors(const v1::Rig& rig, const proto::TextLocator& root,
                 estimator::Mechanism& mechanism, const NameCheck& check_name) {
  const auto add = [&](const auto& sources, const char* field, const char* kind, auto add_one) {
    for (int i = 0; i < sources.size(); ++i) {
      const proto::TextLocator place = root.at(field, i);
      check_name(sources[i].name(), kind, place);
      add_one(sources[i], place, mechanism);
    }
  };
  add(rig.inertial_sensor(), "inertial_sensor", "inertial sensor", add_inertial);
  add(rig.torque_sensor(), "torque_sensor", "torque sensor", add_torque);
  add(rig.force_torque_sensor(), "force_torque_sensor", "force/torque sensor", add_force_torque);
  add(rig.position_sensor(), "position_sensor", "position sensor", add_position);
  add(rig.distance_sensor(), "distance_sensor", "distance sensor", add_distance);
}

void read_sensors(const v1::Rig& rig, const proto::TextLocator& root,
                  estimator::Mechanism& mechanism, const ParameterRead& read) {
  int sensor = 0;
  for (int i = 0; i < rig.inertial_sensor_size(); ++i, ++sensor) {
    const v1::InertialSensor& source = rig.inertial_sensor(i);
    const proto::TextLocator place = root.at("inertial_sensor", i);
    const SensorReader reader(sensor, mechanism, read);
    reader.place(source, place);
    reader.first(source.gyroscope(), place.at("gyroscope"));
    reader.second(source.accelerometer(), place.at("accelerometer"));
  }
  for (int i = 0; i < rig.torque_sensor_size(); ++i, ++sensor) {
    const v1::TorqueSensor& source = rig.torque_sensor(i);
    const proto::TextLocator place = root.at("torque_sensor", i);
    const SensorReader reader(sensor, mechanism, read);
    reader.one(source, "bias", place, InertialQuantity::kRateBiasX);
    reader.one(source, "scale", place, InertialQuantity::kRateScaleX);
    reader.one(source, "delay", place, InertialQuantity::kDelay);
  }
  for (int i = 0; i < rig.force_torque_sensor_size(); ++i, ++sensor) {
    const v1::ForceTorqueSensor& source = rig.force_torque_sensor(i);
    const proto::TextLocator place = root.at("force_torque_sensor", i);
    const SensorReader reader(sensor, mechanism, read);
    reader.place(source, place);
    reader.first(source.moment(), place.at("moment"));
    reader.second(source.force(), place.at("force"));
  }
  for (int i = 0; i < rig.position_sensor_size(); ++i, ++sensor) {
    const v1::PositionSensor& source = rig.position_sensor(i);
    const proto::TextLocator place = root.at("position_sensor", i);
    const SensorReader reader(sensor, mechanism, read);
    reader.place(source, place);
    reader.three(source.bias(), place.at("bias"), InertialQuantity::kRateBiasX);
    reader.three(source.scale(), place.at("scale"), InertialQuantity::kRateScaleX);
  }
  for (int i = 0; i < rig.distance_sensor_size(); ++i, ++sensor) {
    const v1::DistanceSensor& source = rig.distance_sensor(i);
    const proto::TextLocator place = root.at("distance_sensor", i);
    const SensorReader reader(sensor, mechanism, read);
    reader.three(source.point(), place.at("point"), InertialQuantity::kPointX);
    reader.three(source.anchor(), place.at("anchor"), InertialQuantity::kMountX);
    reader.one(source, "bias", place, InertialQuantity::kRateBiasX);
    reader.one(source, "scale", place, InertialQuantity::kRateScaleX);
    reader.one(source, "delay", place, InertialQuantity::kDelay);
  }
}

}  // namespace service
