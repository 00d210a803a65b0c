#include "service/recordings/inertial_samples.hpp"

#include <algorithm>
#include <limits>

#include "estimator/model/mechanism.hpp"

namespace service {
namespace {

static_assert(estimator::Sensor::kAxes == proto::kInertialAxes);

}  // namespace

InertialSampleReader::InertialSampleReader(const proto::Recording& recording, const Rig& rig)
    : recording_(recording), rig_(rig) {
  const auto& known = rig.mechanism.sensors;
  for (const std::string& name : recording.header.inertial_sensors) {
    const auto found = std::ranges::find(known, name, &estimator::Sensor::name);
    const bool is_known = found != known.end();
    columns_.push_back({name, is_known ? static_cast<int>(found - known.begin()) : -1});
  }
}

void InertialSampleReader::fill(const proto::SeriesSegment& source, estimator::Segment& segment) {
  const auto is_known = [](const Column& column) { return column.sensor >= 0; };
  if (std::ranges::none_of(columns_, is_known)) return;
  segment.inertial.setConstant(segment.angles.rows(),
                               estimator::Sensor::kAxes * rig_.mechanism.sensor_count(),
                               std::numeric_limits<double>::quiet_NaN());
  const std::uint64_t end = source.first_sequence + source.row_count;
  for (const proto::InertialReading& reading : recording_.inertial) {
    if (reading.sequence < source.first_sequence || reading.sequence >= end) continue;
    Column& column = columns_[reading.sensor];
    if (column.sensor < 0) continue;
    ++column.read;
    if (reading.saturated != 0) ++column.saturated;
    const auto row = static_cast<Eigen::Index>(reading.sequence - source.first_sequence);
    for (int axis = 0; axis < estimator::Sensor::kAxes; ++axis) {
      if (((reading.saturated >> axis) & 1) != 0) continue;
      segment.inertial(row, estimator::Sensor::kAxes * column.sensor + axis) =
          reading.value[static_cast<std::size_t>(axis)];
    }
  }
}

void InertialSampleReader::add_notes(std::vector<std::string>& notes) const {
  for (const Column& column : columns_) {
    const std::string name = "inertial sensor \"" + column.name + "\"";
    if (column.sensor < 0) {
      notes.push_back(name + " of the recording is not in " + rig_.path +
                      " and is not used; add inertial_sensor { name: \"" + column.name +
                      "\" ... } to use it");
    } else if (column.read == 0) {
      notes.push_back("warning: " + name + " has no readings: is it connected?");
    } else if (column.saturated > 0) {
      notes.push_back(name + " is saturated in " + std::to_string(column.saturated) + " of " +
                      std::to_string(column.read) + " readings; these axes are not used there");
    }
  }
  for (const estimator::Sensor& sensor : rig_.mechanism.sensors) {
    if (std::ranges::count(columns_, sensor.name, &Column::name) > 0) continue;
    notes.push_back("sensor \"" + sensor.name + "\" is not in the recording");
  }
}

}  // namespace service
