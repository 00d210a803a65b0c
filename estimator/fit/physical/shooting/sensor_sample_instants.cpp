#include "estimator/fit/physical/shooting/sensor_sample_instants.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimator/model/encoder.hpp"
#include "estimator/simulation/sensing_program.hpp"

namespace estimator {
namespace {

constexpr int kAxes = Sensor::kAxes;

/// Range of a delay parameter in a fit.
struct Range {
  double least, most;

  bool holds(const Segment& segment, double time) const {
    const double slack = kSampleTolerance * segment.period;
    return time - most >= -slack && time - least <= segment.duration() + slack;
  }
};

Range range_of(const Mechanism& mechanism, int index) {
  const Parameter& own = mechanism.at(index);
  if (!is_changed_by_fit(mechanism, index)) return {own.value, own.value};
  return {own.lower, own.upper};
}

/// Sensor axes that share sample instants, and their delay [s].
struct Group {
  int delay;  ///< index of the first axis' delay
  bool is_free;
  double value;
  std::vector<int> places;
};

std::vector<Group> groups_of(const Mechanism& mechanism, const std::vector<int>& axes) {
  std::vector<Group> groups;
  for (std::size_t place = 0; place < axes.size(); ++place) {
    const int index = delay_parameter_of_axis(mechanism, axes[place]);
    const double value = mechanism.at(index).value;
    const bool is_free = is_changed_by_fit(mechanism, index);
    auto group = std::ranges::find_if(groups, [&](const Group& each) {
      return each.delay == index || (!is_free && !each.is_free && each.value == value);
    });
    if (group == groups.end()) {
      groups.push_back({index, is_free, value, {}});
      group = groups.end() - 1;
    }
    group->places.push_back(static_cast<int>(place));
  }
  return groups;
}

}  // namespace

std::vector<int> find_read_sensor_axes(const Mechanism& mechanism,
                                       const std::vector<Segment>& segments) {
  std::vector<int> axes;
  for (int axis = 0; axis < mechanism.sensor_count() * kAxes; ++axis) {
    const Sensor& sensor = mechanism.sensors[axis / kAxes];
    if (axis % kAxes >= sensor.axis_count() || is_held_out(mechanism, sensor.name)) continue;
    if (std::ranges::any_of(segments, [&](const Segment& segment) {
          return axis < segment.inertial.cols() &&
                 !segment.inertial.col(axis).array().isNaN().all();
        })) {
      axes.push_back(axis);
    }
  }
  return axes;
}

std::vector<int> find_sampled_axes(const Mechanism& mechanism,
                                   const std::vector<Segment>& segments) {
  std::vector<int> axes = find_read_sensor_axes(mechanism, segments);
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    if (!has_delay(mechanism, sensors[i]) && !has_harmonics(mechanism, sensors[i])) continue;
    axes.push_back(encoder_axis(mechanism, static_cast<int>(i)));
  }
  return axes;
}

std::string sensor_axis_name(const Mechanism& mechanism, int axis) {
  const Sensor& sensor = mechanism.sensors[axis / kAxes];
  return sensor.name + "." + sensor.kind_traits().instrument_of_axis(axis % kAxes).axes[axis % 3];
}

std::string sensor_axis_unit(const Mechanism& mechanism, int axis) {
  const Sensor& sensor = mechanism.sensors[axis / kAxes];
  return measured_quantity(mechanism, sensor, sensor.kind_traits().instrument_of_axis(axis % kAxes))
      .unit();
}

SensorSampleInstants::SensorSampleInstants(const Mechanism& mechanism, const Segment& segment,
                                           const std::vector<int>& axes)
    : readings_(axes.size()) {
  struct Found {
    double time;
    int sample;
    std::size_t group;
  };
  const std::vector<Group> groups = groups_of(mechanism, axes);
  const int first_encoder = encoder_axis(mechanism, 0);
  const auto is_wanted = [&](int sample, int place) {
    const int axis = axes[place];
    if (axis >= first_encoder) return true;
    return axis < segment.inertial.cols() && !std::isnan(segment.inertial(sample, axis));
  };
  std::vector<Found> instants;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Range range = range_of(mechanism, groups[g].delay);
    for (int sample = 0; sample < segment.sample_count(); ++sample) {
      const double time = segment.time(sample);
      if (!range.holds(segment, time)) continue;
      const bool is_read = std::ranges::any_of(groups[g].places,
                                               [&](int place) { return is_wanted(sample, place); });
      if (is_read) instants.push_back({time - groups[g].value, sample, g});
    }
  }
  std::ranges::stable_sort(instants, {}, &Found::time);
  for (const Found& instant : instants) {
    const int at = static_cast<int>(times_.size());
    times_.push_back(instant.time);
    for (const int place : groups[instant.group].places) {
      if (!is_wanted(instant.sample, place)) continue;
      readings_[place].push_back({instant.sample, at});
    }
  }
}

int SensorSampleInstants::first_instant_from(double time) const {
  return static_cast<int>(std::ranges::lower_bound(times_, time) - times_.begin());
}

bool has_free_delay(const Mechanism& mechanism, const std::vector<int>& axes) {
  return std::ranges::any_of(axes, [&](int axis) {
    return is_changed_by_fit(mechanism, delay_parameter_of_axis(mechanism, axis));
  });
}

Segment remove_excluded_readings(const Mechanism& mechanism, Segment segment) {
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    if (!has_delay(mechanism, sensors[i])) continue;
    const Range range = range_of(mechanism, sensors[i].delay);
    for (int sample = 0; sample < segment.sample_count(); ++sample) {
      if (range.holds(segment, segment.time(sample))) continue;
      segment.angles(sample, static_cast<Eigen::Index>(i)) =
          std::numeric_limits<double>::quiet_NaN();
    }
  }
  return segment;
}

}  // namespace estimator
