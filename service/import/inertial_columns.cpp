#include "service/import/inertial_columns.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include "service/import/rig_sensors.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using estimator::InertialSensor;

// A kind of column that readings of sensors are in: its field of recording { }, those that there
// are, and what the sensors are called whose axes it names.

struct InertialColumns {
  using Message = v1::InertialColumn;
  static constexpr const char *kField = "inertial", *kSensors = "inertial sensor",
                              *kAdd = "inertial_sensor";
  static const auto& all(const v1::RecordingFormat& format) { return format.inertial(); }
};

struct LoadColumns {
  using Message = v1::LoadColumn;
  static constexpr const char *kField = "load", *kSensors = "sensor of torques",
                              *kAdd = "torque_sensor";
  static const auto& all(const v1::RecordingFormat& format) { return format.load(); }
};

struct PlaceColumns {
  using Message = v1::PlaceColumn;
  static constexpr const char *kField = "place", *kSensors = "sensor of places",
                              *kAdd = "position_sensor";
  static const auto& all(const v1::RecordingFormat& format) { return format.place(); }
};

std::string in_capitals(std::string word) {
  for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return word;
}

/// "A, B or C"
std::string one_of(const std::vector<std::string>& words) {
  std::string all = words.front();
  for (std::size_t k = 1; k < words.size(); ++k) {
    all += (k + 1 == words.size() ? " or " : ", ") + words[k];
  }
  return all;
}

/// "inertial sensor 'tip'"
std::string named(const InertialSensor& sensor) {
  return std::string(sensor.traits().what) + " '" + sensor.name + "'";
}

/// Words for the axes of a sensor, by number; empty of those that it does not have.
std::vector<std::string> axis_words(const InertialSensor& sensor) {
  std::vector<std::string> words;
  for (int axis = 0; axis < InertialSensor::kAxes; ++axis) {
    const estimator::Instrument& instrument = sensor.traits().instrument(axis);
    const bool has = axis % 3 < instrument.axis_count;
    words.push_back(has ? in_capitals(instrument.axes[axis % 3]) : "");
  }
  return words;
}

int axis_of(const InertialSensor& sensor, const std::string& word,
            const proto::TextLocator& place) {
  std::vector<std::string> words = axis_words(sensor);
  // A text file may give any number for an enumerator, which has no word.
  const auto found = word.empty() ? words.end() : std::ranges::find(words, word);
  if (found != words.end()) return static_cast<int>(found - words.begin());
  std::erase(words, "");
  place.at("axis").fail("is no axis of " + named(sensor) + "; write axis: " + one_of(words));
}

template <typename Columns>
int find_sensor(const std::string& name, const estimator::Mechanism& mechanism,
                const proto::TextLocator& place) {
  std::string names;
  for (int i = 0; i < mechanism.inertial_count(); ++i) {
    const auto& own = mechanism.inertial_sensors[static_cast<std::size_t>(i)];
    typename Columns::Message::Axis axis;
    if (!Columns::Message::Axis_Parse(axis_words(own).front(), &axis)) continue;
    if (own.name == name) return i;
    names += " " + own.name;
  }
  place.at("sensor").fail(
      std::string("no ") + Columns::kSensors + " is called '" + name + "'; " +
      (names.empty() ? std::string("add ") + Columns::kAdd + " { name: \"" + name + "\" ... }"
                     : "use one of" + names));
}

/// [SI unit per unit of the column]
///
/// @param column  its name
/// @param who     what reads it
double scale_of(const std::string& unit, const std::string& column,
                const estimator::ReadingTraits& reading, const InstrumentFacts& facts,
                const std::string& who, const proto::TextLocator& place) {
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
    place.at("unit").fail(std::string(each.what) + " need " + each.field + " in " + who);
  }
  const bool has_unit = unit != "UNIT_UNSPECIFIED";
  (has_unit ? place.at("unit") : place)
      .fail("column '" + column + "' " + (has_unit ? "is of another kind of unit" : "has no unit") +
            "; write unit: " + one_of(words));
}

template <typename Columns>
InertialColumn read_column(const typename Columns::Message& source, const v1::Rig& rig,
                           const estimator::Mechanism& mechanism, const proto::TextLocator& place) {
  using Message = typename Columns::Message;
  const int at = find_sensor<Columns>(source.sensor(), mechanism, place);
  const InertialSensor& sensor = mechanism.inertial_sensors[static_cast<std::size_t>(at)];
  const int axis = axis_of(sensor, Message::Axis_Name(source.axis()), place);
  const estimator::Instrument& instrument = sensor.traits().instrument(axis);
  const std::string name = instrument.name;
  const std::optional<InstrumentFacts> facts = instrument_facts(rig, at, axis / 3);
  if (!facts) {
    place.at("axis").fail(named(sensor) + " has no " + name + "; add " + name +
                          " { } to it or remove this column");
  }
  if (source.column().empty()) place.fail("needs the column's name; write column: \"...\"");
  const estimator::ReadingTraits& reading = reading_of(mechanism, sensor, instrument);
  const std::string unit = Message::Unit_Name(source.unit());
  const double scale =
      scale_of(unit, source.column(), reading, *facts,
               (name.empty() ? "" : "the " + name + " of ") + named(sensor), place);
  return {.column = source.column(),
          .sensor = source.sensor(),
          .what = sensor.traits().what,
          .index = at * InertialSensor::kAxes + axis,
          .scale = source.inverted() ? -scale : scale,
          .range = facts->range,
          .reading = reading.reading,
          .in_si = unit == reading.units[0].word,
          .place = place.where()};
}

/// Reads all columns of one kind behind those that were read before.
template <typename Columns>
void read_all(const v1::Rig& rig, const estimator::Mechanism& mechanism,
              const proto::TextLocator& place, std::vector<InertialColumn>& columns) {
  for (int i = 0; i < Columns::all(rig.recording()).size(); ++i) {
    const typename Columns::Message& source = Columns::all(rig.recording())[i];
    const proto::TextLocator own = place.at(Columns::kField, i);
    InertialColumn column = read_column<Columns>(source, rig, mechanism, own);
    if (std::ranges::count(columns, column.index, &InertialColumn::index) > 0) {
      own.at("axis").fail(Columns::Message::Axis_Name(source.axis()) + " of " + column.what + " '" +
                          column.sensor + "' has two columns; keep one");
    }
    if (std::ranges::count(columns, column.column, &InertialColumn::column) > 0) {
      own.at("column").fail("column '" + column.column +
                            "' is read for two axes; name the column of each");
    }
    columns.push_back(std::move(column));
  }
}

}  // namespace

std::vector<InertialColumn> read_inertial_columns(const v1::Rig& rig,
                                                  const estimator::Mechanism& mechanism,
                                                  const proto::TextLocator& place) {
  std::vector<InertialColumn> columns;
  read_all<InertialColumns>(rig, mechanism, place, columns);
  read_all<LoadColumns>(rig, mechanism, place, columns);
  read_all<PlaceColumns>(rig, mechanism, place, columns);
  return columns;
}

}  // namespace service
