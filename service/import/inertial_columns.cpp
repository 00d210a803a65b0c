#include "service/import/inertial_columns.hpp"

#include <algorithm>
#include <numbers>
#include <string>
#include <utility>

#include "service/import/place_columns.hpp"

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
    const auto& own = mechanism.inertial_sensors[static_cast<std::size_t>(i)];
    if (own.kind != estimator::InertialSensor::Kind::kInertial) continue;
    if (own.name == name) return i;
    names += " " + own.name;
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

/// Of a torque sensor or a force/torque sensor, what its columns need to know.
struct LoadFacts {
  int sensor = -1;  ///< in the mechanism
  int axis = 0;
  bool is_force = false;  ///< [N], not [N·m]
  double range = 0.0, counts_per_unit = 0.0, per_ampere = 0.0;
};

LoadFacts load_facts(const v1::LoadColumn& source, const v1::Rig& rig,
                     const estimator::Mechanism& mechanism, const proto::TextLocator& place) {
  using Kind = estimator::InertialSensor::Kind;
  const auto refuse_axis = [&](const char* axes) {
    place.at("axis").fail("is no axis of sensor '" + source.sensor() + "'; write axis: " + axes);
  };
  std::string names;
  int torque = 0, six = 0;  // sensors of each kind so far
  for (int i = 0; i < mechanism.inertial_count(); ++i) {
    const auto& own = mechanism.inertial_sensors[static_cast<std::size_t>(i)];
    if (!own.is_load()) continue;
    const int at = own.kind == Kind::kForceTorque ? six++ : torque++;
    names += " " + own.name;
    if (own.name != source.sensor()) continue;
    if (own.kind != Kind::kForceTorque) {
      if (source.axis() != v1::LoadColumn::TORQUE) refuse_axis("TORQUE");
      const v1::TorqueSensor& facts = rig.torque_sensor(at);
      const auto& hinge = mechanism.hinges[static_cast<std::size_t>(own.hinge)];
      return {i,
              0,
              hinge.kind == estimator::JointKind::kPrismatic,
              facts.range(),
              facts.counts_per_unit(),
              facts.torque_per_a()};
    }
    const int axis = source.axis() - v1::LoadColumn::MOMENT_X;
    if (axis < 0 || axis >= estimator::InertialSensor::kAxes) {
      refuse_axis("MOMENT_X, MOMENT_Y, MOMENT_Z, FORCE_X, FORCE_Y or FORCE_Z");
    }
    const bool is_force = axis >= estimator::InertialSensor::kAxes / 2;
    const v1::ForceTorqueSensor& facts = rig.force_torque_sensor(at);
    if (!(is_force ? facts.has_force() : facts.has_moment())) {
      place.at("axis").fail("sensor '" + source.sensor() + "' has no " +
                            (is_force ? "force" : "moment") + " { }; add it or remove this column");
    }
    const v1::LoadCell& cell = is_force ? facts.force() : facts.moment();
    return {i, axis, is_force, cell.range(), cell.counts_per_unit(), 0.0};
  }
  place.at("sensor").fail("no sensor of torques is called '" + source.sensor() + "'; " +
                          (names.empty()
                               ? "add torque_sensor { name: \"" + source.sensor() + "\" ... }"
                               : "use one of" + names));
}

InertialColumn read_load_column(const v1::LoadColumn& source, const v1::Rig& rig,
                                const estimator::Mechanism& mechanism,
                                const proto::TextLocator& place) {
  const LoadFacts facts = load_facts(source, rig, mechanism, place);
  if (source.column().empty()) place.fail("needs the column's name; write column: \"...\"");
  const auto needs = [&](const char* what, double value, const char* field) {
    if (value != 0.0) return;
    place.at("unit").fail(std::string(what) + " need " + field + " in sensor '" + source.sensor() +
                          "'");
  };
  const char* const si_unit = facts.is_force ? "N" : "N·m";
  double scale = 1.0;
  if (source.unit() == v1::LoadColumn::COUNT) {
    needs("counts", facts.counts_per_unit, "counts_per_unit");
    scale = 1.0 / facts.counts_per_unit;
  } else if (source.unit() == v1::LoadColumn::AMPERE && source.axis() == v1::LoadColumn::TORQUE) {
    needs("amperes", facts.per_ampere, "torque_per_A");
    scale = facts.per_ampere;
  } else if (source.unit() !=
             (facts.is_force ? v1::LoadColumn::NEWTON : v1::LoadColumn::NEWTON_METER)) {
    const bool has_unit = source.unit() != v1::LoadColumn::UNIT_UNSPECIFIED;
    (has_unit ? place.at("unit") : place)
        .fail("column '" + source.column() + "' " +
              (has_unit ? "is of another kind of unit" : "has no unit") +
              "; write unit: " + (facts.is_force ? "NEWTON" : "NEWTON_METER") +
              (source.axis() == v1::LoadColumn::TORQUE ? ", AMPERE" : "") + " or COUNT");
  }
  return {.column = source.column(),
          .sensor = source.sensor(),
          .index = facts.sensor * estimator::InertialSensor::kAxes + facts.axis,
          .scale = source.inverted() ? -scale : scale,
          .range = facts.range,
          .si_unit = si_unit,
          .in_si = scale == 1.0,
          .place = place.where()};
}

}  // namespace

std::vector<InertialColumn> read_inertial_columns(const v1::Rig& rig,
                                                  const estimator::Mechanism& mechanism,
                                                  const proto::TextLocator& place) {
  std::vector<InertialColumn> columns;
  const auto add = [&](InertialColumn column, const std::string& axis,
                       const proto::TextLocator& own) {
    if (std::ranges::count(columns, column.index, &InertialColumn::index) > 0) {
      own.at("axis").fail(axis + " of " + kind_of(column) + " '" + column.sensor +
                          "' has two columns; keep one");
    }
    if (std::ranges::count(columns, column.column, &InertialColumn::column) > 0) {
      own.at("column").fail("column '" + column.column +
                            "' is read for two axes; name the column of each");
    }
    columns.push_back(std::move(column));
  };
  for (int i = 0; i < rig.recording().inertial_size(); ++i) {
    const Column& source = rig.recording().inertial(i);
    const proto::TextLocator own = place.at("inertial", i);
    const int sensor = find_sensor(source.sensor(), mechanism, own);
    add(read_column(source, rig, sensor, number_of(source.axis(), own), own),
        Column::Axis_Name(source.axis()), own);
  }
  for (int i = 0; i < rig.recording().load_size(); ++i) {
    const v1::LoadColumn& source = rig.recording().load(i);
    const proto::TextLocator own = place.at("load", i);
    add(read_load_column(source, rig, mechanism, own), v1::LoadColumn::Axis_Name(source.axis()),
        own);
  }
  for (int i = 0; i < rig.recording().place_size(); ++i) {
    const v1::PlaceColumn& source = rig.recording().place(i);
    const proto::TextLocator own = place.at("place", i);
    add(read_place_column(source, rig, mechanism, own), v1::PlaceColumn::Axis_Name(source.axis()),
        own);
  }
  return columns;
}

}  // namespace service
