#include "estimator/calibrate/inertial_looks.hpp"

#include <algorithm>
#include <cmath>

namespace estimator {
namespace {

constexpr int kAxes = InertialSensor::kAxes;

/// Axes that are looked at together, and by how much they are late [s].
struct Group {
  int sensor;  ///< the first of them
  bool is_free;
  double delay, least, most;
  std::vector<int> places;
};

std::vector<Group> groups_of(const Mechanism& mechanism, const std::vector<int>& axes) {
  std::vector<Group> groups;
  for (std::size_t place = 0; place < axes.size(); ++place) {
    const int sensor = axes[place] / kAxes;
    const int index = mechanism.index_of_inertial(sensor, InertialQuantity::kDelay);
    const Parameter& delay = mechanism.parameters[static_cast<std::size_t>(index)];
    const bool is_free = varies(mechanism, index);
    auto group = std::ranges::find_if(groups, [&](const Group& each) {
      return each.sensor == sensor || (!is_free && !each.is_free && each.delay == delay.value);
    });
    if (group == groups.end()) {
      groups.push_back({sensor,
                        is_free,
                        delay.value,
                        is_free ? delay.lower : delay.value,
                        is_free ? delay.upper : delay.value,
                        {}});
      group = groups.end() - 1;
    }
    group->places.push_back(static_cast<int>(place));
  }
  return groups;
}

}  // namespace

std::vector<int> sensed_axes(const Mechanism& mechanism, const std::vector<Segment>& segments) {
  std::vector<int> axes;
  for (int axis = 0; axis < mechanism.inertial_count() * kAxes; ++axis) {
    const auto sensor = static_cast<std::size_t>(axis / kAxes);
    if (axis % kAxes >= mechanism.inertial_sensors[sensor].axis_count()) continue;
    if (std::ranges::any_of(segments, [&](const Segment& segment) {
          return axis < segment.inertial.cols() &&
                 !segment.inertial.col(axis).array().isNaN().all();
        })) {
      axes.push_back(axis);
    }
  }
  return axes;
}

std::string inertial_axis_name(const Mechanism& mechanism, int axis) {
  using Kind = InertialSensor::Kind;
  static constexpr const char* kInertial[kAxes] = {"gyro_x",  "gyro_y",  "gyro_z",
                                                   "accel_x", "accel_y", "accel_z"};
  static constexpr const char* kLoad[kAxes] = {"moment_x", "moment_y", "moment_z",
                                               "force_x",  "force_y",  "force_z"};
  static constexpr const char* kPosition[] = {"x", "y", "z"};
  const InertialSensor& sensor = mechanism.inertial_sensors[static_cast<std::size_t>(axis / kAxes)];
  if (sensor.kind == Kind::kDistance) return sensor.name + ".distance";
  if (sensor.axis_count() == 1) return sensor.name + ".torque";
  const char* const* names = sensor.kind == Kind::kInertial   ? kInertial
                             : sensor.kind == Kind::kPosition ? kPosition
                                                              : kLoad;
  return sensor.name + "." + names[axis % kAxes];
}

std::string inertial_axis_unit(const Mechanism& mechanism, int axis) {
  const InertialSensor& sensor = mechanism.inertial_sensors[static_cast<std::size_t>(axis / kAxes)];
  const bool is_first = axis % kAxes < 3;
  if (sensor.kind == InertialSensor::Kind::kInertial) return is_first ? "rad/s" : "m/s²";
  if (!sensor.is_load()) return "m";
  if (sensor.axis_count() == 1) {
    const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(sensor.hinge)];
    return hinge.kind == JointKind::kPrismatic ? "N" : "N·m";
  }
  return is_first ? "N·m" : "N";
}

InertialLooks::InertialLooks(const Mechanism& mechanism, const Segment& segment,
                             const std::vector<int>& axes)
    : readings_(axes.size()) {
  struct Found {
    double time;
    int sample;
    std::size_t group;
  };
  const std::vector<Group> groups = groups_of(mechanism, axes);
  std::vector<Found> looks;
  const double slack = kSampleTolerance * segment.period;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (int sample = 0; sample < segment.sample_count(); ++sample) {
      const double time = segment.time(sample);
      if (time - groups[g].most < -slack || time - groups[g].least > segment.duration() + slack) {
        continue;
      }
      const bool is_read = std::ranges::any_of(groups[g].places, [&](int place) {
        const int axis = axes[static_cast<std::size_t>(place)];
        return axis < segment.inertial.cols() && !std::isnan(segment.inertial(sample, axis));
      });
      if (is_read) looks.push_back({time - groups[g].delay, sample, g});
    }
  }
  std::ranges::stable_sort(looks, {}, &Found::time);
  for (const Found& look : looks) {
    const int at = static_cast<int>(times_.size());
    times_.push_back(look.time);
    for (const int place : groups[look.group].places) {
      const int axis = axes[static_cast<std::size_t>(place)];
      if (axis >= segment.inertial.cols()) continue;
      if (std::isnan(segment.inertial(look.sample, axis))) continue;
      readings_[static_cast<std::size_t>(place)].push_back({look.sample, at});
    }
  }
}

int InertialLooks::first_from(double time) const {
  return static_cast<int>(std::ranges::lower_bound(times_, time) - times_.begin());
}

bool looks_move(const Mechanism& mechanism) {
  for (int i = 0; i < mechanism.inertial_count(); ++i) {
    if (varies(mechanism, mechanism.index_of_inertial(i, InertialQuantity::kDelay))) return true;
  }
  return false;
}

}  // namespace estimator
