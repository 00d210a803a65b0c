#include "service/rig/sensor_columns.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include "service/rig/rig_sensors.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using estimator::Instrument;
using estimator::Sensor;

/// Returns the type and name of a sensor for messages, e.g. "inertial sensor 'tip'".
std::string named(const Sensor& sensor) {
  return std::string(sensor.traits().what) + " \"" + sensor.name + "\"";
}

// Traits of a column kind: its field in recording { }, its columns, the sensors it applies to, and
// texts of messages.

struct SensorColumns {
  static std::string owner(const Sensor& sensor) { return named(sensor); }
  static std::string holder(const Sensor& sensor, const Instrument&) { return named(sensor); }
  static std::string other_unit(const Instrument&) { return "has a unit of another quantity"; }
  static std::string missing(const Instrument& instrument) {
    return std::string(instrument.name) + " { }; add it";
  }
};

struct InertialColumns {
  using Message = v1::InertialColumn;
  static constexpr const char *kField = "inertial", *kSensors = "inertial sensor",
                              *kAdd = "inertial_sensor";
  static const auto& all(const v1::RecordingFormat& format) { return format.inertial(); }

  static std::string owner(const Sensor&) { return "an inertial sensor"; }
  static std::string holder(const Sensor& sensor, const Instrument& instrument) {
    return std::string("the ") + instrument.name + " of " + named(sensor);
  }
  static std::string other_unit(const Instrument& instrument) {
    return std::string("has a unit that no ") + instrument.name + " measures";
  }
  static std::string missing(const Instrument& instrument) {
    return std::string(instrument.name) + "; add " + instrument.name + " { } to it";
  }
};

struct ForceTorqueColumns : SensorColumns {
  using Message = v1::ForceTorqueColumn;
  static constexpr const char *kField = "force_torque", *kSensors = "torque or force/torque sensor",
                              *kAdd = "torque_sensor";
  static const auto& all(const v1::RecordingFormat& format) { return format.force_torque(); }
};

struct PositionSensorColumns : SensorColumns {
  using Message = v1::PositionSensorColumn;
  static constexpr const char *kField = "position_sensor",
                              *kSensors = "position or distance sensor", *kAdd = "position_sensor";
  static const auto& all(const v1::RecordingFormat& format) { return format.position_sensor(); }
};

std::string in_capitals(std::string word) {
  for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return word;
}

/// Returns the words as a list such as "A, B or C".
std::string one_of(const std::vector<std::string>& words) {
  std::string all = words.front();
  for (std::size_t k = 1; k < words.size(); ++k) {
    all += (k + 1 == words.size() ? " or " : ", ") + words[k];
  }
  return all;
}

/// Returns the names of a sensor's axes by index; empty for axes that the sensor lacks.
std::vector<std::string> axis_words(const Sensor& sensor) {
  std::vector<std::string> words;
  for (int axis = 0; axis < Sensor::kAxes; ++axis) {
    const Instrument& instrument = sensor.traits().instrument(axis);
    const bool has = axis % 3 < instrument.axis_count;
    words.push_back(has ? in_capitals(instrument.axes[axis % 3]) : "");
  }
  return words;
}

template <typename Columns>
int axis_of(const Sensor& sensor, typename Columns::Message::Axis axis,
            const proto::TextLocator& place) {
  const std::string word = Columns::Message::Axis_Name(axis);
  std::vector<std::string> words = axis_words(sensor);
  // A text file may give any number for an enumerator; such a number has no name.
  const auto found = word.empty() ? words.end() : std::ranges::find(words, word);
  if (found != words.end()) return static_cast<int>(found - words.begin());
  std::erase(words, "");
  place.at("axis").fail("not an axis of " + Columns::owner(sensor) +
                        ". Write axis: " + one_of(words));
}

template <typename Columns>
int find_sensor(const std::string& name, const estimator::Mechanism& mechanism,
                const proto::TextLocator& place) {
  std::string names;
  for (int i = 0; i < mechanism.sensor_count(); ++i) {
    const auto& own = mechanism.sensors[static_cast<std::size_t>(i)];
    typename Columns::Message::Axis axis;
    if (!Columns::Message::Axis_Parse(axis_words(own).front(), &axis)) continue;
    if (own.name == name) return i;
    names += " " + own.name;
  }
  place.at("sensor").fail(
      std::string("no ") + Columns::kSensors + " is called \"" + name + "\"; " +
      (names.empty() ? std::string("add ") + Columns::kAdd + " { name: \"" + name + "\" ... }"
                     : "use one of" + names));
}

/// Returns the scale of a sensor column [SI unit per unit of the column].
template <typename Columns>
double scale_of(const typename Columns::Message& source, const Sensor& sensor,
                const Instrument& instrument, const estimator::ReadingTraits& reading,
                const InstrumentFacts& facts, const proto::TextLocator& place) {
  const std::string unit = Columns::Message::Unit_Name(source.unit());
  std::vector<std::string> words;
  for (const estimator::ReadingUnit& each : reading.units) {
    if (each.word == nullptr) continue;
    if (unit == each.word) return each.size;
    words.push_back(each.word);
  }
  for (const InstrumentFacts::Unit& each : facts.units) {
    words.push_back(each.word);
    if (unit != each.word) continue;
    if (each.size != 0.0) return each.size;
    place.at("unit").fail(std::string(each.what) + " need " + each.field + " in " +
                          Columns::holder(sensor, instrument));
  }
  const bool has_unit = source.unit() != Columns::Message::UNIT_UNSPECIFIED;
  (has_unit ? place.at("unit") : place)
      .fail("column \"" + source.column() + "\" " +
            (has_unit ? Columns::other_unit(instrument) : "has no unit") +
            ". Write unit: " + one_of(words));
}

template <typename Columns>
SensorColumn read_column(const typename Columns::Message& source, const v1::Rig& rig,
                         const estimator::Mechanism& mechanism, const proto::TextLocator& place) {
  const int at = find_sensor<Columns>(source.sensor(), mechanism, place);
  const Sensor& sensor = mechanism.sensors[static_cast<std::size_t>(at)];
  const int axis = axis_of<Columns>(sensor, source.axis(), place);
  const Instrument& instrument = sensor.traits().instrument(axis);
  const std::optional<InstrumentFacts> facts = instrument_facts(rig, at, axis / 3);
  if (!facts) {
    place.at("axis").fail(named(sensor) + " has no " + Columns::missing(instrument) +
                          " or remove this column");
  }
  if (source.column().empty()) place.fail("needs the column's name; write column: \"...\"");
  const estimator::ReadingTraits& reading = reading_of(mechanism, sensor, instrument);
  const double scale = scale_of<Columns>(source, sensor, instrument, reading, *facts, place);
  return {.column = source.column(),
          .sensor = source.sensor(),
          .what = sensor.traits().what,
          .index = at * Sensor::kAxes + axis,
          .scale = source.inverted() ? -scale : scale,
          .range = facts->range,
          .reading = reading.reading,
          .in_si = Columns::Message::Unit_Name(source.unit()) == reading.units[0].word,
          .place = place.where()};
}

/// Appends all columns of one sensor type.
template <typename Columns>
void read_all(const v1::Rig& rig, const estimator::Mechanism& mechanism,
              const proto::TextLocator& place, std::vector<SensorColumn>& columns) {
  for (int i = 0; i < Columns::all(rig.recording()).size(); ++i) {
    const typename Columns::Message& source = Columns::all(rig.recording())[i];
    const proto::TextLocator own = place.at(Columns::kField, i);
    SensorColumn column = read_column<Columns>(source, rig, mechanism, own);
    if (std::ranges::count(columns, column.index, &SensorColumn::index) > 0) {
      own.at("axis").fail(Columns::Message::Axis_Name(source.axis()) + " of " + column.what +
                          " \"" + column.sensor + "\" has two columns; keep one");
    }
    if (std::ranges::count(columns, column.column, &SensorColumn::column) > 0) {
      own.at("column").fail("column \"" + column.column +
                            "\" is used for two axes. Give each axis its own column");
    }
    columns.push_back(std::move(column));
  }
}

}  // namespace

std::vector<SensorColumn> read_sensor_columns(const v1::Rig& rig,
                                              const estimator::Mechanism& mechanism,
                                              const proto::TextLocator& place) {
  std::vector<SensorColumn> columns;
  read_all<InertialColumns>(rig, mechanism, place, columns);
  read_all<ForceTorqueColumns>(rig, mechanism, place, columns);
  read_all<PositionSensorColumns>(rig, mechanism, place, columns);
  return columns;
}

}  // namespace service
