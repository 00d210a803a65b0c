#include "service/import/place_columns.hpp"

#include <string>

namespace service {
namespace {

namespace v1 = rigcal::v1;
using Column = v1::PlaceColumn;
using Kind = estimator::InertialSensor::Kind;

struct PlaceFacts {
  int sensor = -1;  ///< in the mechanism
  int axis = 0;
  double counts_per_m = 0.0;
};

PlaceFacts place_facts(const Column& source, const v1::Rig& rig,
                       const estimator::Mechanism& mechanism, const proto::TextLocator& place) {
  std::string names;
  int positions = 0, distances = 0;  // sensors of each kind so far
  for (int i = 0; i < mechanism.inertial_count(); ++i) {
    const auto& own = mechanism.inertial_sensors[static_cast<std::size_t>(i)];
    const bool is_distance = own.kind == Kind::kDistance;
    if (!is_distance && own.kind != Kind::kPosition) continue;
    const int at = is_distance ? distances++ : positions++;
    names += " " + own.name;
    if (own.name != source.sensor()) continue;
    const int axis = source.axis() - Column::X;
    if (is_distance ? source.axis() != Column::DISTANCE : axis < 0 || axis > 2) {
      place.at("axis").fail("is no axis of sensor '" + source.sensor() +
                            "'; write axis: " + (is_distance ? "DISTANCE" : "X, Y or Z"));
    }
    if (is_distance) return {i, 0, rig.distance_sensor(at).counts_per_m()};
    return {i, axis, rig.position_sensor(at).counts_per_m()};
  }
  place.at("sensor").fail("no sensor of places is called '" + source.sensor() + "'; " +
                          (names.empty()
                               ? "add position_sensor { name: \"" + source.sensor() + "\" ... }"
                               : "use one of" + names));
}

}  // namespace

InertialColumn read_place_column(const Column& source, const v1::Rig& rig,
                                 const estimator::Mechanism& mechanism,
                                 const proto::TextLocator& place) {
  constexpr double kMillimetre = 1e-3;  // [m]
  const PlaceFacts facts = place_facts(source, rig, mechanism, place);
  if (source.column().empty()) place.fail("needs the column's name; write column: \"...\"");
  double scale = 1.0;
  switch (source.unit()) {
    case Column::METER:
      break;
    case Column::MILLIMETER:
      scale = kMillimetre;
      break;
    case Column::COUNT:
      if (!(facts.counts_per_m > 0.0)) {
        place.at("unit").fail("counts need counts_per_m in sensor '" + source.sensor() + "'");
      }
      scale = 1.0 / facts.counts_per_m;
      break;
    default:
      place.fail("column '" + source.column() +
                 "' has no unit; write unit: METER, MILLIMETER or COUNT");
  }
  return {.column = source.column(),
          .sensor = source.sensor(),
          .index = facts.sensor * estimator::InertialSensor::kAxes + facts.axis,
          .scale = source.inverted() ? -scale : scale,
          .si_unit = "m",
          .in_si = scale == 1.0,
          .place = place.where()};
}

}  // namespace service
