#include "service/rig/rig_sensors.hpp"

#include <cmath>
#include <tuple>

#include "service/rig/rig_frames.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using estimator::Sensor;
using estimator::SensorQuantity;
using google::protobuf::Message;

/// Returns the index of the moving joint with this name.
int find_joint(const estimator::Mechanism& mechanism, const std::string& name,
               const proto::TextLocator& place) {
  std::string known;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const std::string& own = mechanism.joints[static_cast<std::size_t>(j)].name;
    if (own == name) return j;
    known += (j > 0 ? ", " : "") + own;
  }
  if (name.empty()) place.fail("names no joint; write joint: with one of " + known);
  place.at("joint").fail("no moving joint is called \"" + name + "\"; use one of " + known);
}

/// Returns the index of the body that carries a sensor, which must not be the ground.
template <typename Message>
int moving_body(const Message& source, const proto::TextLocator& place,
                const estimator::Mechanism& mechanism) {
  if (source.body() == "ground") {
    place.at("body").fail("a sensor cannot be on the ground. Name the body that carries it");
  }
  return find_body(mechanism, source.body(), "body", place, false);
}

/// Reader of the parameters of one sensor.
class SensorReader {
 public:
  SensorReader(int sensor, estimator::Mechanism& mechanism, const ParameterRead& read)
      : sensor_(sensor), mechanism_(mechanism), read_(read) {}

  void one(const Message& message, const char* field, const proto::TextLocator& place,
           SensorQuantity quantity) const {
    read_(message, field, place, mechanism_.sensor_parameter(sensor_, quantity));
  }

  /// Reads a vector of three parameters. @param first  quantity of the x component
  void three(const Message& message, const proto::TextLocator& place, SensorQuantity first) const {
    for (int axis = 0; axis < 3; ++axis) {
      static constexpr const char* kFields[] = {"x", "y", "z"};
      one(message, kFields[axis], place,
          static_cast<SensorQuantity>(static_cast<int>(first) + axis));
    }
  }

  /// Reads the parameters of a sensor's first instrument, a gyroscope or moment sensor.
  template <typename Instrument>
  void first(const Instrument& source, const proto::TextLocator& place) const {
    three(source.bias(), place.at("bias"), SensorQuantity::kRateBiasX);
    three(source.scale(), place.at("scale"), SensorQuantity::kRateScaleX);
    cross(source.cross_axis(), place.at("cross_axis"), SensorQuantity::kRateCrossXY);
  }

  /// Reads the parameters of a sensor's second instrument, an accelerometer or force sensor.
  template <typename Instrument>
  void second(const Instrument& source, const proto::TextLocator& place) const {
    three(source.bias(), place.at("bias"), SensorQuantity::kForceBiasX);
    three(source.scale(), place.at("scale"), SensorQuantity::kForceScaleX);
    cross(source.cross_axis(), place.at("cross_axis"), SensorQuantity::kForceCrossXY);
  }

  /// Reads the parameters of a sensor with one axis.
  void only(const Message& source, const proto::TextLocator& place) const {
    one(source, "bias", place, SensorQuantity::kRateBiasX);
    one(source, "scale", place, SensorQuantity::kRateScaleX);
    one(source, "delay", place, SensorQuantity::kDelay);
  }

  /// Reads position, mounting rotation and delay of a sensor with its own axes.
  template <typename Message>
  void place(const Message& source, const proto::TextLocator& place) const {
    three(source.point(), place.at("point"), SensorQuantity::kPointX);
    three(source.mounting(), place.at("mounting"), SensorQuantity::kMountX);
    one(source, "delay", place, SensorQuantity::kDelay);
  }

  /// Reads the six cross-axis sensitivities. @param first  quantity of the first sensitivity
  void cross(const v1::CrossAxis& source, const proto::TextLocator& place,
             SensorQuantity first) const {
    static constexpr const char* kFields[] = {"xy", "xz", "yx", "yz", "zx", "zy"};
    constexpr double kPercent = 0.01;
    for (int k = 0; k < 6; ++k) {
      const auto quantity = static_cast<SensorQuantity>(static_cast<int>(first) + k);
      one(source, kFields[k], place, quantity);
      if (!(source.deviation_percent() > 0.0)) continue;
      estimator::Parameter& known = mechanism_.sensor_parameter(sensor_, quantity);
      known.free = true;  // a given value is the initial value
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

InstrumentFacts::Unit counts(const char* field, double per_unit) {
  return {"COUNT", "counts", field, per_unit > 0.0 ? 1.0 / per_unit : 0.0};
}

// Sensor messages of rig files. A source is a struct with
//
//   kField, kWhat   its field of the rig, and the name of the sensor type
//   all(rig)        all sensors of the type
//   sensor(...)     the mechanism's sensor for a message
//   read(...)       reads its parameters
//   facts(...)      data of an instrument for columns; nullopt if the sensor lacks it

struct InertialSource {
  static constexpr const char *kField = "inertial_sensor", *kWhat = "inertial sensor";
  static const auto& all(const v1::Rig& rig) { return rig.inertial_sensor(); }

  static Sensor sensor(const v1::InertialSensor& source, const proto::TextLocator& place,
                       const estimator::Mechanism& mechanism) {
    if (!source.has_gyroscope() && !source.has_accelerometer()) {
      place.fail("inertial sensor \"" + source.name() +
                 "\" measures nothing. Add gyroscope { } or accelerometer { }");
    }
    return {.name = source.name(),
            .body = moving_body(source, place, mechanism),
            .frame = read_sensor_frame(source, place)};
  }
  static void read(const v1::InertialSensor& source, const proto::TextLocator& place,
                   const SensorReader& reader) {
    reader.place(source, place);
    reader.first(source.gyroscope(), place.at("gyroscope"));
    reader.second(source.accelerometer(), place.at("accelerometer"));
  }
  static std::optional<InstrumentFacts> facts(const v1::InertialSensor& source, int instrument) {
    if (instrument == 0) {
      if (!source.has_gyroscope()) return std::nullopt;
      const v1::Gyroscope& own = source.gyroscope();
      return InstrumentFacts{own.range_rad_per_s(),
                             {counts("counts_per_rad_per_s", own.counts_per_rad_per_s())}};
    }
    if (!source.has_accelerometer()) return std::nullopt;
    const v1::Accelerometer& own = source.accelerometer();
    return InstrumentFacts{own.range_m_per_s2(),
                           {counts("counts_per_m_per_s2", own.counts_per_m_per_s2())}};
  }
};

struct TorqueSource {
  static constexpr const char *kField = "torque_sensor", *kWhat = "torque sensor";
  static const auto& all(const v1::Rig& rig) { return rig.torque_sensor(); }

  static Sensor sensor(const v1::TorqueSensor& source, const proto::TextLocator& place,
                       const estimator::Mechanism& mechanism) {
    const int index = find_joint(mechanism, source.joint(), place);
    const estimator::Joint& joint = mechanism.joints[static_cast<std::size_t>(index)];
    const bool is_motor = source.measured_torque() == v1::TorqueSensor::MOTOR;
    if (is_motor && source.delay().free()) {
      place.at("delay").fail("torque sensor \"" + source.name() +
                             "\": the delay of a motor torque sensor cannot be estimated, since "
                             "the torque jumps with the control. Give its value without free");
    }
    if (is_motor && !joint.motorised) {
      place.at("joint").fail(
          "torque sensor \"" + source.name() + "\" measures the motor of joint \"" + joint.name +
          "\", which has none. Add motor { } to the joint or write measured_torque: JOINT");
    }
    return {.name = source.name(),
            .body = joint.body_b,
            .kind = is_motor ? Sensor::Kind::kMotorTorque : Sensor::Kind::kJointTorque,
            .joint = index};
  }
  static void read(const v1::TorqueSensor& source, const proto::TextLocator& place,
                   const SensorReader& reader) {
    reader.only(source, place);
  }
  static std::optional<InstrumentFacts> facts(const v1::TorqueSensor& source, int) {
    return InstrumentFacts{source.range(),
                           {{"AMPERE", "amperes", "torque_per_A", source.torque_per_a()},
                            counts("counts_per_unit", source.counts_per_unit())}};
  }
};

struct ForceTorqueSource {
  static constexpr const char *kField = "force_torque_sensor", *kWhat = "force/torque sensor";
  static const auto& all(const v1::Rig& rig) { return rig.force_torque_sensor(); }

  static Sensor sensor(const v1::ForceTorqueSensor& source, const proto::TextLocator& place,
                       const estimator::Mechanism& mechanism) {
    const int joint = find_joint(mechanism, source.joint(), place);
    if (!source.has_moment() && !source.has_force()) {
      place.fail("force/torque sensor \"" + source.name() +
                 "\" measures nothing. Add moment { } or force { }");
    }
    return {.name = source.name(),
            .body = mechanism.joints[static_cast<std::size_t>(joint)].body_b,
            .frame = read_sensor_frame(source, place),
            .kind = Sensor::Kind::kForceTorque,
            .joint = joint};
  }
  static void read(const v1::ForceTorqueSensor& source, const proto::TextLocator& place,
                   const SensorReader& reader) {
    reader.place(source, place);
    reader.first(source.moment(), place.at("moment"));
    reader.second(source.force(), place.at("force"));
  }
  static std::optional<InstrumentFacts> facts(const v1::ForceTorqueSensor& source, int instrument) {
    if (!(instrument == 0 ? source.has_moment() : source.has_force())) return std::nullopt;
    const v1::LoadCell& cell = instrument == 0 ? source.moment() : source.force();
    return InstrumentFacts{cell.range(), {counts("counts_per_unit", cell.counts_per_unit())}};
  }
};

struct PositionSource {
  static constexpr const char *kField = "position_sensor", *kWhat = "position sensor";
  static const auto& all(const v1::Rig& rig) { return rig.position_sensor(); }

  static Sensor sensor(const v1::PositionSensor& source, const proto::TextLocator& place,
                       const estimator::Mechanism& mechanism) {
    return {.name = source.name(),
            .body = moving_body(source, place, mechanism),
            .frame = read_sensor_frame(source, place),
            .kind = Sensor::Kind::kPosition};
  }
  static void read(const v1::PositionSensor& source, const proto::TextLocator& place,
                   const SensorReader& reader) {
    reader.place(source, place);
    reader.three(source.bias(), place.at("bias"), SensorQuantity::kRateBiasX);
    reader.three(source.scale(), place.at("scale"), SensorQuantity::kRateScaleX);
  }
  static std::optional<InstrumentFacts> facts(const v1::PositionSensor& source, int) {
    return InstrumentFacts{.units = {counts("counts_per_m", source.counts_per_m())}};
  }
};

struct DistanceSource {
  static constexpr const char *kField = "distance_sensor", *kWhat = "distance sensor";
  static const auto& all(const v1::Rig& rig) { return rig.distance_sensor(); }

  static Sensor sensor(const v1::DistanceSensor& source, const proto::TextLocator& place,
                       const estimator::Mechanism& mechanism) {
    return {.name = source.name(),
            .body = moving_body(source, place, mechanism),
            .kind = Sensor::Kind::kDistance};
  }
  static void read(const v1::DistanceSensor& source, const proto::TextLocator& place,
                   const SensorReader& reader) {
    reader.three(source.point(), place.at("point"), SensorQuantity::kPointX);
    reader.three(source.anchor(), place.at("anchor"), SensorQuantity::kMountX);
    reader.only(source, place);
  }
  static std::optional<InstrumentFacts> facts(const v1::DistanceSensor& source, int) {
    return InstrumentFacts{.units = {counts("counts_per_m", source.counts_per_m())}};
  }
};

using AllSources =
    std::tuple<InertialSource, TorqueSource, ForceTorqueSource, PositionSource, DistanceSource>;

/// Calls `visit(source, message, i)` for every sensor of a rig file, in the order of the mechanism.
/// A sensor is the i-th of its `source`, the list of sensors of its type.
template <typename Visit>
void for_each_sensor(const v1::Rig& rig, const Visit& visit) {
  const auto of_source = [&](auto source) {
    for (int i = 0; i < source.all(rig).size(); ++i) visit(source, source.all(rig)[i], i);
  };
  std::apply([&](auto... source) { (of_source(source), ...); }, AllSources());
}

}  // namespace

std::optional<InstrumentFacts> instrument_facts(const v1::Rig& rig, int sensor, int instrument) {
  std::optional<InstrumentFacts> facts;
  int at = 0;
  for_each_sensor(rig, [&](auto source, const auto& message, int) {
    if (at++ == sensor) facts = source.facts(message, instrument);
  });
  return facts;
}

void add_sensors(const v1::Rig& rig, const proto::TextLocator& root,
                 estimator::Mechanism& mechanism, const NameCheck& check_name) {
  for_each_sensor(rig, [&](auto source, const auto& message, int i) {
    const proto::TextLocator place = root.at(source.kField, i);
    check_name(message.name(), source.kWhat, place);
    mechanism.sensors.push_back(source.sensor(message, place, mechanism));
  });
}

void read_sensors(const v1::Rig& rig, const proto::TextLocator& root,
                  estimator::Mechanism& mechanism, const ParameterRead& read) {
  int sensor = 0;
  for_each_sensor(rig, [&](auto source, const auto& message, int i) {
    source.read(message, root.at(source.kField, i), SensorReader(sensor++, mechanism, read));
  });
}

}  // namespace service
