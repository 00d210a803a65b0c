#include "service/rig/rig_recording.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "estimator/model/encoder.hpp"
#include "service/rig/sensor_columns.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;

double seconds_per_unit(const v1::TimeColumn& time, const proto::TextLocator& place) {
  switch (time.unit()) {
    case v1::TimeColumn::SECOND:
      return 1.0;
    case v1::TimeColumn::MILLISECOND:
      return 1e-3;
    case v1::TimeColumn::MICROSECOND:
      return 1e-6;
    default:
      // A text file may give any number for an enumerator.
      place.at("unit").fail(
          "is not a unit of time. Write unit: SECOND, MILLISECOND or MICROSECOND");
  }
}

void read_time(const v1::TimeColumn& time, const proto::TextLocator& place,
               RecordingFormat& format) {
  if (time.column().empty() == (time.rate_hz() == 0.0)) {
    place.fail("needs either the column of the time stamps or rate_hz; write time { column: ... }");
  }
  if (!(time.rate_hz() >= 0.0) || std::isinf(time.rate_hz())) {
    place.at("rate_hz").fail("rate_hz must be positive");
  }
  format.time_column = time.column();
  format.time_scale = seconds_per_unit(time, place);
  format.rate = time.rate_hz();
  if (time.has_jitter_tolerance()) format.jitter_tolerance = time.jitter_tolerance();
  if (!(format.jitter_tolerance > 0.0 && format.jitter_tolerance < 0.5)) {
    place.at("jitter_tolerance").fail("jitter_tolerance must lie between 0 and 0.5 periods");
  }
}

double radians_per_unit(const v1::AngleColumn& angle, double counts_per_turn,
                        const proto::TextLocator& place) {
  constexpr double kTurn = 2.0 * std::numbers::pi;
  switch (angle.unit()) {
    case v1::AngleColumn::RADIAN:
      return 1.0;
    case v1::AngleColumn::DEGREE:
      return kTurn / 360.0;
    case v1::AngleColumn::TURN:
      return kTurn;
    case v1::AngleColumn::COUNT:
      if (!(counts_per_turn > 0.0)) {
        place.at("unit").fail("counts need counts_per_turn in the encoder of joint \"" +
                              angle.joint() + "\"");
      }
      return kTurn / counts_per_turn;
    default:
      place.fail("column \"" + angle.column() +
                 "\" has no unit; write unit: RADIAN, DEGREE, COUNT or TURN");
  }
}

double metres_per_unit(const v1::PositionColumn& position, double counts_per_m,
                       const proto::TextLocator& place) {
  switch (position.unit()) {
    case v1::PositionColumn::METER:
      return 1.0;
    case v1::PositionColumn::MILLIMETER:
      return 1e-3;
    case v1::PositionColumn::COUNT:
      if (!(counts_per_m > 0.0)) {
        place.at("unit").fail("counts need counts_per_m in the encoder of joint \"" +
                              position.joint() + "\"");
      }
      return 1.0 / counts_per_m;
    default:
      place.fail("column \"" + position.column() +
                 "\" has no unit; write unit: METER, MILLIMETER or COUNT");
  }
}

EncoderColumn read_position(const v1::PositionColumn& source, double counts_per_m,
                            estimator::JointKind kind, const proto::TextLocator& place) {
  if (source.column().empty()) place.fail("needs the column's name; write column: \"...\"");
  const double scale = metres_per_unit(source, counts_per_m, place);
  if (!std::isfinite(source.offset_m())) place.at("offset_m").fail("must be a finite number");
  EncoderColumn position;
  position.column = source.column();
  position.joint = source.joint();
  position.kind = kind;
  position.scale = source.inverted() ? -scale : scale;
  position.offset = source.offset_m();
  position.in_radians = false;
  position.allow_missing = source.allow_missing();
  position.place = place.where();
  return position;
}

EncoderColumn read_angle(const v1::AngleColumn& source, double counts_per_turn,
                         estimator::JointKind kind, const proto::TextLocator& place) {
  if (source.column().empty()) place.fail("needs the column's name; write column: \"...\"");
  const double scale = radians_per_unit(source, counts_per_turn, place);
  if (!std::isfinite(source.offset_rad())) place.at("offset_rad").fail("must be a finite number");
  EncoderColumn angle;
  angle.column = source.column();
  angle.joint = source.joint();
  angle.kind = kind;
  angle.scale = source.inverted() ? -scale : scale;
  angle.offset = source.offset_rad();
  angle.in_radians = source.unit() == v1::AngleColumn::RADIAN;
  angle.in_degrees = source.unit() == v1::AngleColumn::DEGREE;
  angle.allow_missing = source.allow_missing();
  angle.place = place.where();
  return angle;
}

ControlColumn read_control(const v1::ControlColumn& source, const std::string& unit,
                           const proto::TextLocator& place) {
  if (source.column().empty()) place.fail("needs the column's name; write column: \"...\"");
  ControlColumn control;
  control.column = source.column();
  control.joint = source.joint();
  control.unit = unit;
  control.place = place.where();
  if (source.has_scale()) control.scale = source.scale();
  if (!std::isfinite(control.scale) || control.scale == 0.0) {
    place.at("scale").fail("the scale must be a number other than 0");
  }
  return control;
}

/// Returns the index of the column that belongs to a joint; −1 if there is none.
/// @throws proto::InputError if the joint has two columns
template <typename Columns>
int find_column(const Columns& columns, const std::string& joint, const char* field,
                const proto::TextLocator& place) {
  int found = -1;
  for (int i = 0; i < columns.size(); ++i) {
    if (columns.Get(i).joint() != joint) continue;
    if (found >= 0)
      place.at(field, i).fail("joint \"" + joint + "\" has two such columns; keep one");
    found = i;
  }
  return found;
}

std::string names_of(const std::vector<estimator::Encoder>& sensors) {
  std::string names;
  for (const estimator::Encoder& sensor : sensors) names += " " + sensor.name;
  return names;
}

/// Checks that every angle or position column belongs to an encoder that measures this quantity.
///
/// @param field   field of recording { }, "angle" or "position"
/// @param remedy  suggested column if the encoder measures another quantity
template <typename Columns>
void check_readings(const Columns& columns, const estimator::Mechanism& mechanism,
                    const std::vector<estimator::Encoder>& sensors, const char* field,
                    const std::string& remedy, const proto::TextLocator& place) {
  for (int i = 0; i < columns.size(); ++i) {
    const std::string& name = columns.Get(i).joint();
    const auto sensor = std::ranges::find(sensors, name, &estimator::Encoder::name);
    if (sensor == sensors.end()) {
      if (std::ranges::count(mechanism.joints, name, &estimator::Joint::name) > 0) {
        place.at(field, i).fail(
            "joint \"" + name +
            "\" has no encoder; add encoder { } to the joint or remove this column");
      }
      place.at(field, i).fail("no joint is called \"" + name + "\"; use one of" +
                              names_of(sensors));
    }
    if (std::string_view(sensor->units().quantity) == field) continue;
    place.at(field, i).at("unit").fail("joint \"" + name + "\" " + sensor->traits().verb +
                                       ", so this column cannot be its " +
                                       sensor->units().quantity + "; write " + remedy);
  }
}

/// Checks that every column belongs to a joint with a motor.
void check_controls(const v1::RecordingFormat& source, const estimator::Mechanism& mechanism,
                    const proto::TextLocator& place) {
  for (int i = 0; i < source.control_size(); ++i) {
    const std::string& name = source.control(i).joint();
    const auto joint = std::ranges::find(mechanism.joints, name, &estimator::Joint::name);
    if (joint == mechanism.joints.end()) {
      std::string names;
      for (const estimator::Joint& each : mechanism.joints) names += " " + each.name;
      place.at("control", i).fail("no joint is called \"" + name + "\"; use one of" + names);
    }
    if (joint->motorised) continue;
    place.at("control", i)
        .fail("joint \"" + name +
              "\" has no motor; add motor { } to the joint or remove this column");
  }
}

/// Reads the angle or position column with the readings of an encoder.
EncoderColumn read_sensor(const v1::RecordingFormat& source, const v1::Encoder& facts,
                          const estimator::Encoder& sensor, const proto::TextLocator& place) {
  const int angle = find_column(source.angle(), sensor.name, "angle", place);
  const int position = find_column(source.position(), sensor.name, "position", place);
  if (angle >= 0) {
    return read_angle(source.angle(angle), facts.counts_per_turn(), sensor.kind,
                      place.at("angle", angle));
  }
  if (position >= 0) {
    return read_position(source.position(position), facts.counts_per_m(), sensor.kind,
                         place.at("position", position));
  }
  const std::string field = sensor.units().quantity;
  place.fail("joint \"" + sensor.name + "\" has an encoder but no " + field + " column; write " +
             field + " { " + "joint: \"" + sensor.name +
             "\" column: ... unit: ... } or remove the encoder");
}

/// Returns the joint with this name in the rig file; nullptr if there is none.
const v1::Joint* joint_of(const v1::Rig& rig, const std::string& name) {
  const auto found = std::find_if(rig.joint().begin(), rig.joint().end(),
                                  [&](const v1::Joint& joint) { return joint.name() == name; });
  return found == rig.joint().end() ? nullptr : &*found;
}

}  // namespace

const v1::Encoder& encoder_of(const v1::Rig& rig, const std::string& name) {
  if (const v1::Joint* joint = joint_of(rig, name)) return joint->encoder();
  return std::ranges::find(rig.body_encoder(), name, &v1::BodyEncoder::name)->encoder();
}

RecordingFormat read_recording_format(const v1::Rig& rig, const estimator::Mechanism& mechanism,
                                      const proto::TextLocator& place) {
  const v1::RecordingFormat& source = rig.recording();
  RecordingFormat format;
  read_time(source.time(), place.at("time"), format);
  format.segment_column = source.segment_column();
  if (source.has_speed_max_rad_per_s()) format.speed_max = source.speed_max_rad_per_s();
  if (!(format.speed_max > 0.0)) place.at("speed_max_rad_per_s").fail("must be positive");
  if (source.has_speed_max_m_per_s()) format.prismatic_speed_max = source.speed_max_m_per_s();
  if (!(format.prismatic_speed_max > 0.0)) place.at("speed_max_m_per_s").fail("must be positive");

  const std::vector<estimator::Encoder> sensors = estimator::used_encoders(mechanism);
  check_readings(source.angle(), mechanism, sensors, "angle",
                 "position { joint: ... column: ... unit: METER, MILLIMETER or COUNT }", place);
  check_readings(source.position(), mechanism, sensors, "position",
                 "angle { joint: ... column: ... unit: RADIAN, DEGREE, COUNT or TURN }", place);
  check_controls(source, mechanism, place);
  for (const estimator::Encoder& sensor : sensors) {
    format.angles.push_back(read_sensor(source, encoder_of(rig, sensor.name), sensor, place));
  }
  for (const estimator::Joint& joint : mechanism.joints) {
    const int control = find_column(source.control(), joint.name, "control", place);
    if (joint.motorised && control < 0) {
      place.fail("joint \"" + joint.name +
                 "\" has a motor but no control column; write control { " + "joint: \"" +
                 joint.name + "\" column: ... } or remove the motor");
    }
    if (control >= 0) {
      format.controls.push_back(read_control(source.control(control),
                                             joint_of(rig, joint.name)->motor().control_unit(),
                                             place.at("control", control)));
    }
  }
  format.inertial = read_sensor_columns(rig, mechanism, place);
  for (const estimator::Sensor& sensor : mechanism.sensors) {
    format.sensors.push_back(sensor.name);
  }
  if (format.angles.empty()) place.fail("no joint is measured; give one an encoder { }");
  return format;
}

}  // namespace service
