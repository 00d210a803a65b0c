#include "service/import/inertial_columns.hpp"

#include <algorithm>
#include <numbers>
#include <string>

namespace service {
namespace {

namespace v1 = rigcal::v1;
using Column = v1::InertialColumn;

constexpr double kStandardGravity = 9.80665;  // [m/s²]
constexpr double kDegree = std::numbers::pi / 180.0;

/// One of the two instruments in an inertial sensor's case.
struct Instrument {
  const char* name;            ///< "gyroscope", as the field of the sensor is called
  const char* si_unit;         ///< of what it reads
  const char* units;           ///< to choose from, in a rig file
  const char* counts_field;    ///< that states how many counts make the unit
  Column::Unit si, customary;  ///< beside COUNT
  double customary_scale;      ///< [SI unit per customary one]
};
constexpr Instrument kGyroscope = {
    "gyroscope",
    "rad/s",
    "RADIAN_PER_SECOND, DEGREE_PER_SECOND or COUNT",
    "counts_per_rad_per_s",
    Column::RADIAN_PER_SECOND,
    Column::DEGREE_PER_SECOND,
    kDegree,
};
constexpr Instrument kAccelerometer = {
    "accelerometer",
    "m/s²",
    "METER_PER_SECOND_SQUARED, STANDARD_GRAVITY or COUNT",
    "counts_per_m_per_s2",
    Column::METER_PER_SECOND_SQUARED,
    Column::STANDARD_GRAVITY,
    kStandardGravity,
};

/// Of an axis: its number among a sensor's, rates before specific forces.
int number_of(Column::Axis axis, const proto::TextLocator& place) {
  const int number = static_cast<int>(axis) - static_cast<int>(Column::GYRO_X);
  if (number < 0 || number >= estimator::InertialSensor::kAxes) {
    // A text file may give any number for an enumerator.
    place.at("axis").fail(
        "is no axis of an inertial sensor; write axis: GYRO_X, GYRO_Y, GYRO_Z, ACCEL_X, ACCEL_Y "
        "or ACCEL_Z");
  }
  return number;
}

int find_sensor(const std::string& name, const estimator::Mechanism& mechanism,
                const proto::TextLocator& place) {
  std::string names;
  for (int i = 0; i < mechanism.inertial_count(); ++i) {
    const std::string& own = mechanism.inertial_sensors[static_cast<std::size_t>(i)].name;
    if (own == name) return i;
    names += " " + own;
  }
  place.at("sensor").fail("no inertial sensor is called '" + name + "'; " +
                          (names.empty() ? "add inertial_sensor { name: \"" + name + "\" ... }"
                                         : "use one of" + names));
}

/// [SI unit per unit of the column]
double scale_of(const Column& source, const Instrument& instrument, double counts_per_unit,
                const proto::TextLocator& place) {
  if (source.unit() == instrument.si) return 1.0;
  if (source.unit() == instrument.customary) return instrument.customary_scale;
  if (source.unit() != Column::COUNT) {
    const bool has_unit = source.unit() != Column::UNIT_UNSPECIFIED;
    (has_unit ? place.at("unit") : place)
        .fail("column '" + source.column() + "' " +
              (has_unit ? "is of a unit that no " + std::string(instrument.name) + " reads"
                        : "has no unit") +
              "; write unit: " + instrument.units);
  }
  if (!(counts_per_unit > 0.0)) {
    place.at("unit").fail(std::string("counts need ") + instrument.counts_field + " in the " +
                          instrument.name + " of inertial sensor '" + source.sensor() + "'");
  }
  return 1.0 / counts_per_unit;
}

InertialColumn read_column(const Column& source, const v1::Rig& rig, int sensor, int number,
                           const proto::TextLocator& place) {
  const v1::InertialSensor& facts = rig.inertial_sensor(sensor);
  const bool turns = number < estimator::InertialSensor::kAxes / 2;
  const Instrument& instrument = turns ? kGyroscope : kAccelerometer;
  if (!(turns ? facts.has_gyroscope() : facts.has_accelerometer())) {
    place.at("axis").fail("inertial sensor '" + facts.name() + "' has no " + instrument.name +
                          "; add " + instrument.name + " { } to it or remove this column");
  }
  if (source.column().empty()) place.fail("needs the column's name; write column: \"...\"");
  const double counts = turns ? facts.gyroscope().counts_per_rad_per_s()
                              : facts.accelerometer().counts_per_m_per_s2();
  const double scale = scale_of(source, instrument, counts, place);
  return {
      .column = source.column(),
      .sensor = source.sensor(),
      .index = sensor * estimator::InertialSensor::kAxes + number,
      .scale = source.inverted() ? -scale : scale,
      .range = turns ? facts.gyroscope().range_rad_per_s() : facts.accelerometer().range_m_per_s2(),
      .si_unit = instrument.si_unit,
      .in_si = source.unit() == instrument.si,
      .place = place.where()};
}

}  // namespace

std::vector<InertialColumn> read_inertial_columns(const v1::Rig& rig,
                                                  const estimator::Mechanism& mechanism,
                                                  const proto::TextLocator& place) {
  std::vector<InertialColumn> columns;
  for (int i = 0; i < rig.recording().inertial_size(); ++i) {
    const Column& source = rig.recording().inertial(i);
    const proto::TextLocator own = place.at("inertial", i);
    const int sensor = find_sensor(source.sensor(), mechanism, own);
    InertialColumn column = read_column(source, rig, sensor, number_of(source.axis(), own), own);
    if (std::ranges::count(columns, column.index, &InertialColumn::index) > 0) {
      own.at("axis").fail(Column::Axis_Name(source.axis()) + " of inertial sensor '" +
                          source.sensor() + "' has two columns; keep one");
    }
    if (std::ranges::count(columns, column.column, &InertialColumn::column) > 0) {
      own.at("column").fail("column '" + column.column +
                            "' is read for two axes; name the column of each");
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace service
