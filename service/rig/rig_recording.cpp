#include "service/rig/rig_recording.hpp"

#include <algorithm>
#include <cctype>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "estimator/model/encoder.hpp"
#include "proto/text/input_error.hpp"
#include "service/rig/parameters/message_fields.hpp"
#include "service/rig/pose_columns.hpp"
#include "service/rig/rig_joints.hpp"
#include "service/rig/rig_sensors.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using estimator::Instrument;
using estimator::Mechanism;
using estimator::Sensor;
using google::protobuf::Message;
using proto::TextLocator;

/// Unit of a column, the name of an enumerator.
struct ColumnUnit {
  const char* word;
  double size;  ///< [s, rad or m]
};

constexpr double kTurn = 2.0 * std::numbers::pi;
constexpr ColumnUnit kTimeUnits[] = {
    {"SECOND", 1.0}, {"MILLISECOND", 1e-3}, {"MICROSECOND", 1e-6}, {"NANOSECOND", 1e-9}};
constexpr ColumnUnit kAngleUnits[] = {{"RADIAN", 1.0}, {"DEGREE", kTurn / 360.0}, {"TURN", kTurn}};
constexpr ColumnUnit kPositionUnits[] = {{"METER", 1.0}, {"MILLIMETER", 1e-3}};

/// Returns the size of a column's unit; nullopt if it is not one of these units.
std::optional<double> size_of_unit(const Message& column, std::span<const ColumnUnit> units) {
  const std::string word = get_field_enumerator(column, "unit");
  const auto found =
      std::ranges::find_if(units, [&](const auto& each) { return word == each.word; });
  return found == units.end() ? std::nullopt : std::optional(found->size);
}

void read_time(const v1::TimeColumn& time, const TextLocator& place, RecordingFormat& format) {
  if (time.column().empty() == (time.rate_hz() == 0.0)) {
    place.fail("needs either the column of the time stamps or rate_hz; write time { column: ... }");
  }
  auto unit = size_of_unit(time, kTimeUnits);
  if (time.unit_s() > 0.0 && time.unit() == v1::TimeColumn::SECOND) unit = time.unit_s();
  if (time.unit_s() > 0.0 && time.unit() != v1::TimeColumn::SECOND) {
    place.at("unit_s").fail("unit_s gives the unit a second time; remove it, or unit");
  }
  if (!unit) {
    place.at("unit").fail(
        "is not a unit of time. Write unit: SECOND, MILLISECOND, MICROSECOND or NANOSECOND");
  }
  format.time_column = time.column();
  format.time_scale = *unit;
  format.rate = time.rate_hz();
  if (time.has_jitter_tolerance()) format.jitter_tolerance = time.jitter_tolerance();
  if (!(format.jitter_tolerance < 0.5)) {
    place.at("jitter_tolerance").fail("jitter_tolerance must lie between 0 and 0.5 periods");
  }
}

/// Fields of the columns of encoders that measure one quantity.
struct EncoderFields {
  const char *column, *offset, *counts, *unit_size;
  double whole;  ///< quantity that has these counts [rad or m]
  std::span<const ColumnUnit> units;
  const char* unit_words;
};

constexpr EncoderFields kEncoderFields[] = {{"angle", "offset_rad", "counts_per_turn", "unit_rad",
                                             kTurn, kAngleUnits, "RADIAN, DEGREE, COUNT or TURN"},
                                            {"position", "offset_m", "counts_per_m", "unit_m", 1.0,
                                             kPositionUnits, "METER, MILLIMETER or COUNT"}};

void require_column(const Message& source, const TextLocator& place) {
  if (get_field_text(source, "column").empty())
    place.fail("needs the column's name; write column: \"...\"");
}

/// Returns a repeated field of recording { } as messages.
std::vector<const Message*> columns_in(const v1::RecordingFormat& source, const char* field) {
  std::vector<const Message*> columns;
  const auto& in = *source.GetReflection();
  for (int i = 0; i < in.FieldSize(source, find_message_field(source, field)); ++i) {
    columns.push_back(&in.GetRepeatedMessage(source, find_message_field(source, field), i));
  }
  return columns;
}

/// Returns the index of the column that belongs to a joint; −1 if there is none.
/// @throws proto::InputError if the joint has two columns
int find_column(const v1::RecordingFormat& source, const std::string& joint, const char* field,
                const TextLocator& place) {
  int found = -1;
  const std::vector<const Message*> columns = columns_in(source, field);
  for (int i = 0; i < std::ssize(columns); ++i) {
    if (get_field_text(*columns[static_cast<std::size_t>(i)], "joint") != joint) continue;
    if (found >= 0) {
      place.at(field, i).fail("joint \"" + joint + "\" has two such columns; keep one");
    }
    found = i;
  }
  return found;
}

/// Returns the size of the unit of an encoder's column [rad or m].
double unit_of_encoder(const EncoderFields& fields, const Message& source, const v1::Encoder& facts,
                       const TextLocator& place) {
  const double given = get_field_number(source, fields.unit_size);
  const std::string unit = get_field_enumerator(source, "unit");
  if (given > 0.0 && unit == "UNIT_UNSPECIFIED") return given;
  if (given > 0.0) {
    place.at(fields.unit_size)
        .fail(std::string(fields.unit_size) + " gives the unit a second time; remove it, or unit");
  }
  if (const auto size = size_of_unit(source, fields.units)) return *size;
  if (unit != "COUNT") {
    place.fail("column \"" + get_field_text(source, "column") + "\" has no unit; write unit: " +
               fields.unit_words + ", or " + fields.unit_size + " for another unit");
  }
  const double counts = get_field_number(facts, fields.counts);
  if (!(counts > 0.0)) {
    place.at("unit").fail(std::string("counts need ") + fields.counts +
                          " in the encoder of joint \"" + get_field_text(source, "joint") + "\"");
  }
  return fields.whole / counts;
}

/// Reads the angle or position column with the readings of an encoder.
EncoderColumn read_encoder_column(const v1::RecordingFormat& recording, const v1::Encoder& facts,
                                  const estimator::Encoder& sensor,
                                  const TextLocator& recording_place) {
  for (const EncoderFields& fields : kEncoderFields) {
    const int index = find_column(recording, sensor.name, fields.column, recording_place);
    if (index < 0) continue;
    const TextLocator place = recording_place.at(fields.column, index);
    const Message& source = *columns_in(recording, fields.column)[static_cast<std::size_t>(index)];
    require_column(source, place);
    const double scale = unit_of_encoder(fields, source, facts, place);
    const double counts = get_field_number(facts, fields.counts);
    const double modulo = get_field_number(source, "counts_modulo");
    if (modulo > 0.0 && !(counts > 0.0)) {
      place.at("counts_modulo")
          .fail(std::string("counts_modulo needs ") + fields.counts +
                " in the encoder of joint \"" + sensor.name + "\"");
    }
    const auto flag = [&](const char* field) {
      return source.GetReflection()->GetBool(source, find_message_field(source, field));
    };
    return {.column = get_field_text(source, "column"),
            .joint = sensor.name,
            .kind = sensor.kind,
            .scale = flag("inverted") ? -scale : scale,
            .offset = get_field_number(source, fields.offset),
            .in_radians = get_field_enumerator(source, "unit") == "RADIAN",
            .in_degrees = get_field_enumerator(source, "unit") == "DEGREE",
            .allow_missing = flag("allow_missing"),
            .count_size = counts > 0.0 ? fields.whole / counts : 0.0,
            .counts_modulo = modulo,
            .place = place.where()};
  }
  const std::string field = sensor.units().quantity;
  recording_place.fail("joint \"" + sensor.name + "\" has an encoder but no " + field +
                       " column; write " + field + " { " + "joint: \"" + sensor.name +
                       "\" column: ... unit: ... } or remove the encoder");
}

ControlColumn read_control(const v1::ControlColumn& source, const v1::Rig& rig,
                           const v1::Motor& motor, const TextLocator& place) {
  require_column(source, place);
  const double scale = source.has_scale() ? source.scale() : 1.0;
  if (scale == 0.0) place.at("scale").fail("the scale must be a number other than 0");
  const double allowed = find_command_limits(rig.safety(), source.joint()).command_max;
  return {.column = source.column(),
          .joint = source.joint(),
          .unit = motor.control_unit(),
          .scale = scale,
          .has_scale = source.has_scale(),
          .largest = allowed > 0.0 ? allowed : motor.control_max(),
          .place = place.where()};
}

/// Checks that every angle or position column belongs to an encoder that measures this quantity.
/// @param other  fields of the columns of the other quantity
void check_readings(const v1::RecordingFormat& source, const Mechanism& mechanism,
                    const std::vector<estimator::Encoder>& sensors, const EncoderFields& fields,
                    const EncoderFields& other, const TextLocator& place) {
  int i = -1;
  for (const Message* column : columns_in(source, fields.column)) {
    const TextLocator own = place.at(fields.column, ++i);
    const std::string name = get_field_text(*column, "joint");
    const auto sensor = std::ranges::find(sensors, name, &estimator::Encoder::name);
    if (sensor == sensors.end()) {
      if (std::ranges::count(mechanism.joints, name, &estimator::Joint::name) > 0) {
        own.fail("joint \"" + name +
                 "\" has no encoder; add encoder { } to the joint or remove this column");
      }
      own.fail("no joint is called \"" + name + "\"; use one of " +
               join_items(sensors, &estimator::Encoder::name, " "));
    }
    if (std::string_view(sensor->units().quantity) == fields.column) continue;
    own.at("unit").fail("joint \"" + name + "\" " + sensor->kind_traits().verb +
                        ", so this column cannot be its " + sensor->units().quantity + "; write " +
                        other.column + " { joint: ... column: ... unit: " + other.unit_words +
                        " }");
  }
}

/// Checks that every column belongs to a joint with a motor.
void check_controls(const v1::RecordingFormat& source, const Mechanism& mechanism,
                    const TextLocator& place) {
  for (int i = 0; i < source.control_size(); ++i) {
    const std::string& name = source.control(i).joint();
    const auto joint = std::ranges::find(mechanism.joints, name, &estimator::Joint::name);
    if (joint == mechanism.joints.end()) {
      place.at("control", i)
          .fail("no joint is called \"" + name + "\"; use one of " +
                join_items(mechanism.joints, &estimator::Joint::name, " "));
    }
    if (joint->motor.present) continue;
    place.at("control", i)
        .fail("joint \"" + name +
              "\" has no motor; add motor { } to the joint or remove this column");
  }
}

/// Checks that the time is no reading or control, and that no control is an encoder's reading.
void check_roles(const RecordingFormat& format) {
  const auto refuse = [](const std::string& place, const std::string& column, const char* role) {
    throw proto::InputError(place + ": column \"" + column + "\" is " + role +
                            " already. Give each quantity its own column");
  };
  const auto check_time = [&](const auto& each) {
    if (each.column == format.time_column) refuse(each.place, each.column, "the time");
  };
  std::ranges::for_each(format.angles, check_time);
  std::ranges::for_each(format.controls, check_time);
  std::ranges::for_each(format.inertial, check_time);
  for (const ControlColumn& each : format.controls) {
    if (each.is_prescribed) continue;  // computed from the readings of its joint
    if (std::ranges::count(format.angles, each.column, &EncoderColumn::column) > 0) {
      refuse(each.place, each.column, "an encoder's reading");
    }
  }
}

/// Returns the joint with this name in the rig file; nullptr if there is none.
const v1::Joint* joint_of(const v1::Rig& rig, const std::string& name) {
  const auto found = std::ranges::find_if(
      rig.joint(), [&](const v1::Joint& joint) { return has_coordinate(joint, name); });
  return found == rig.joint().end() ? nullptr : &*found;
}

/// Type of the columns of sensors other than encoders.
struct SensorColumnType {
  const char *field, *sensors;  ///< field of recording { }, and its sensors for messages
  const char* add;              ///< field of a sensor to add
};

constexpr SensorColumnType kSensorColumns[] = {
    {"inertial", "inertial sensor", "inertial_sensor"},
    {"force_torque", "torque or force/torque sensor", "torque_sensor"},
    {"position_sensor", "position or distance sensor", "position_sensor"}};

/// Returns the type and name of a sensor for messages, e.g. "inertial sensor 'tip'".
std::string named(const Sensor& sensor) {
  return std::string(sensor.kind_traits().what) + " \"" + sensor.name + "\"";
}

/// Returns the words as a list such as "A, B or C".
std::string one_of(const std::vector<std::string>& words) {
  const std::string others = join_items(std::span(words).first(words.size() - 1));
  return others.empty() ? words.back() : others + " or " + words.back();
}

/// Returns the names of a sensor's axes by index; empty for axes that the sensor lacks.
std::vector<std::string> axis_words(const Sensor& sensor) {
  std::vector<std::string> words;
  for (int axis = 0; axis < Sensor::kAxes; ++axis) {
    const Instrument& instrument = sensor.kind_traits().instrument_of_axis(axis);
    std::string word = axis % 3 < instrument.axis_count ? instrument.axes[axis % 3] : "";
    for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    words.push_back(word);
  }
  return words;
}

/// Reader of one column of a sensor other than an encoder.
class SensorColumnReader {
 public:
  SensorColumnReader(const SensorColumnType& type, const Message& source, const v1::Rig& rig,
                     const Mechanism& mechanism, const TextLocator& place)
      : type_(type),
        source_(source),
        rig_(rig),
        mechanism_(mechanism),
        place_(place),
        is_inertial_(source.GetDescriptor() == v1::InertialColumn::descriptor()) {}

  SensorColumn read() const {
    const int at = find_sensor();
    const Sensor& sensor = mechanism_.sensors[static_cast<std::size_t>(at)];
    const int axis = find_axis(sensor);
    const Instrument& instrument = sensor.kind_traits().instrument_of_axis(axis);
    const std::optional<InstrumentProperties> facts =
        find_instrument_properties(rig_, sensor, axis / 3);
    if (!facts) {
      const std::string name = instrument.name;
      place_.at("axis").fail(named(sensor) + " has no " + name +
                             (is_inertial_ ? "; add " + name + " { } to it" : " { }; add it") +
                             " or remove this column");
    }
    require_column(source_, place_);
    const estimator::MeasuredQuantityTraits& reading =
        measured_quantity(mechanism_, sensor, instrument);
    const double scale = find_scale(sensor, instrument, reading, *facts);
    const auto* inverted = find_message_field(source_, "inverted");
    return {.column = get_field_text(source_, "column"),
            .sensor = sensor.name,
            .what = sensor.kind_traits().what,
            .index = at * Sensor::kAxes + axis,
            .scale = source_.GetReflection()->GetBool(source_, inverted) ? -scale : scale,
            .range = facts->range,
            .reading = reading.reading,
            .in_si = get_field_enumerator(source_, "unit") == reading.units[0].word,
            .place = place_.where()};
  }

 private:
  /// Returns the index of the sensor with the column's name and a suitable type.
  int find_sensor() const {
    const std::string name = get_field_text(source_, "sensor");
    std::string names;
    for (int i = 0; i < mechanism_.sensor_count(); ++i) {
      const Sensor& own = mechanism_.sensors[static_cast<std::size_t>(i)];
      const auto* axes = find_message_field(source_, "axis")->enum_type();
      if (axes->FindValueByName(axis_words(own).front()) == nullptr) continue;
      if (own.name == name) return i;
      names += " " + own.name;
    }
    place_.at("sensor").fail(
        std::string("no ") + type_.sensors + " is called \"" + name + "\"; " +
        (names.empty() ? std::string("add ") + type_.add + " { name: \"" + name + "\" ... }"
                       : "use one of" + names));
  }

  int find_axis(const Sensor& sensor) const {
    const std::string word = get_field_enumerator(source_, "axis");
    std::vector<std::string> words = axis_words(sensor);
    const auto found = word.empty() ? words.end() : std::ranges::find(words, word);
    if (found != words.end()) return static_cast<int>(found - words.begin());
    std::erase(words, "");
    place_.at("axis").fail("not an axis of " +
                           (is_inertial_ ? "an inertial sensor" : named(sensor)) +
                           ". Write axis: " + one_of(words));
  }

  /// Returns the scale of the column [SI unit per unit of the column].
  double find_scale(const Sensor& sensor, const Instrument& instrument,
                    const estimator::MeasuredQuantityTraits& reading,
                    const InstrumentProperties& facts) const {
    const std::string unit = get_field_enumerator(source_, "unit");
    std::vector<std::string> words;
    for (const estimator::MeasurementUnit& each : reading.units) {
      if (each.word == nullptr) continue;
      if (unit == each.word) return each.size;
      words.push_back(each.word);
    }
    const std::string name = instrument.name;
    for (const InstrumentProperties::InstrumentUnit& each : facts.units) {
      words.push_back(each.word);
      if (unit != each.word) continue;
      if (each.size != 0.0) return each.size;
      place_.at("unit").fail(std::string(each.what) + " need " + each.field + " in " +
                             (is_inertial_ ? "the " + name + " of " : "") + named(sensor));
    }
    const bool has_unit = unit != "UNIT_UNSPECIFIED";
    (has_unit ? place_.at("unit") : place_)
        .fail("column \"" + get_field_text(source_, "column") + "\" " +
              (!has_unit      ? "has no unit"
               : is_inertial_ ? "has a unit that no " + name + " measures"
                              : "has a unit of another quantity") +
              ". Write unit: " + one_of(words));
  }

  const SensorColumnType& type_;
  const Message& source_;
  const v1::Rig& rig_;
  const Mechanism& mechanism_;
  const TextLocator& place_;
  bool is_inertial_;
};

/// Returns the columns of all sensors other than encoders, ordered by type.
std::vector<SensorColumn> read_sensor_columns(const v1::Rig& rig, const Mechanism& mechanism,
                                              const TextLocator& place) {
  std::vector<SensorColumn> columns;
  for (const SensorColumnType& type : kSensorColumns) {
    int i = 0;
    for (const Message* source : columns_in(rig.recording(), type.field)) {
      const TextLocator own = place.at(type.field, i++);
      SensorColumn column = SensorColumnReader(type, *source, rig, mechanism, own).read();
      if (std::ranges::count(columns, column.index, &SensorColumn::index) > 0) {
        own.at("axis").fail(get_field_enumerator(*source, "axis") + " of " + column.what + " \"" +
                            column.sensor + "\" has two columns; keep one");
      }
      if (std::ranges::count(columns, column.column, &SensorColumn::column) > 0) {
        own.at("column").fail("column \"" + column.column +
                              "\" is used for two axes. Give each axis its own column");
      }
      columns.push_back(std::move(column));
    }
  }
  return columns;
}

}  // namespace

const v1::Encoder& find_encoder_message(const v1::Rig& rig, const std::string& name) {
  if (const v1::Joint* joint = joint_of(rig, name)) return joint->encoder();
  return std::ranges::find(rig.body_encoder(), name, &v1::BodyEncoder::name)->encoder();
}

RecordingFormat read_recording_format(const v1::Rig& rig, const Mechanism& mechanism,
                                      const TextLocator& place) {
  const v1::RecordingFormat& source = rig.recording();
  RecordingFormat format;
  read_time(source.time(), place.at("time"), format);
  format.segment_column = source.segment_column();
  format.column_names.assign(source.columns().begin(), source.columns().end());
  format.topic = source.topic();
  if (source.has_speed_max_rad_per_s()) format.speed_max = source.speed_max_rad_per_s();
  if (source.has_speed_max_m_per_s()) format.prismatic_speed_max = source.speed_max_m_per_s();

  const std::vector<estimator::Encoder> sensors = estimator::used_encoders(mechanism);
  const auto& [angle, position] = kEncoderFields;
  check_readings(source, mechanism, sensors, angle, position, place);
  check_readings(source, mechanism, sensors, position, angle, place);
  check_controls(source, mechanism, place);
  const PoseReader poses(source, rig, place);
  for (const estimator::Encoder& sensor : sensors) {
    if (const auto column = poses.find_column(sensor)) {
      format.angles.push_back(*column);
      if (sensor.name.ends_with(estimator::kCoordinateSuffixes[3])) {
        format.quaternions.push_back(static_cast<int>(format.angles.size()) - 1);
      }
      continue;
    }
    format.angles.push_back(
        read_encoder_column(source, find_encoder_message(rig, sensor.name), sensor, place));
  }
  for (const estimator::Joint& joint : mechanism.joints) {
    const int control = find_column(source, joint.name, "control", place);
    if (joint_of(rig, joint.name)->motion() == v1::Joint::PRESCRIBED) {
      if (control >= 0) {
        place.at("control", control)
            .fail("joint \"" + joint.name +
                  "\" has a prescribed motion, so it has no control column. Remove this column");
      }
      const auto& own = *std::ranges::find(format.angles, joint.name, &EncoderColumn::joint);
      format.controls.push_back({.column = own.column,
                                 .joint = joint.name,
                                 .unit = joint_of(rig, joint.name)->motor().control_unit(),
                                 .is_prescribed = true,
                                 .place = own.place});
      continue;
    }
    if (joint.motor.present && control < 0) {
      place.fail("joint \"" + joint.name +
                 "\" has a motor but no control column; write control { " + "joint: \"" +
                 joint.name + "\" column: ... } or remove the motor");
    }
    if (control >= 0) {
      format.controls.push_back(read_control(source.control(control), rig,
                                             joint_of(rig, joint.name)->motor(),
                                             place.at("control", control)));
    }
  }
  format.inertial = read_sensor_columns(rig, mechanism, place);
  for (const Sensor& sensor : mechanism.sensors) format.sensors.push_back(sensor.name);
  if (format.angles.empty()) place.fail("no joint is measured; give one an encoder { }");
  check_roles(format);
  return format;
}

}  // namespace service
