#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "estimator/diagnostics/jumps/reading_series.hpp"
#include "estimator/diagnostics/signal/channels.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/model/parameter_dependencies.hpp"

namespace estimator {
namespace {

constexpr double kRounding = 1e-6;  // relative to a limit; rig files give limits with few digits

/// Relative distance from a limit within which a command is at the limit, and the smallest share of
/// such rows that is reported [-].
constexpr double kAtLimit = 1e-3;
constexpr double kOftenAtLimit = 0.01;

/// Largest error of a speed relative to its limit. Speeds are averaged over enough periods that
/// quantization and noise, times kDeviations, are below it.
constexpr double kSpeedError = 0.05;
constexpr double kDeviations = 6.0;

/// Allowance for the error of an estimated stop's initial position, unless a prior is narrower
/// [rad].
constexpr double kUnknownStop = 0.1;

/// The intervals in which a value is beyond a limit, and the extreme value.
struct Excess {
  std::vector<TimeInterval> intervals;
  double extreme = 0.0;
  int rows = 0;

  void add(double time, double value) {
    ++rows;
    append_time_interval({time, time}, intervals);
    if (std::abs(value) > std::abs(extreme)) extreme = value;
  }
};

/// Reports an excess, if there is one, with its extreme, number of rows and start as arguments.
void report(Message message, const Recording& recording, const std::string& channel,
            const Excess& excess, const char* unit, SignalExamination& out) {
  if (excess.rows == 0) return;
  const Quantity extreme{excess.extreme, unit};
  message.arguments.push_back({"extreme", extreme});
  message.arguments.push_back({"rows", excess.rows});
  message.arguments.push_back({"first", excess.intervals.front().from});
  Finding finding = make_finding(std::move(message), recording.name, channel, extreme);
  set_time_intervals(excess.intervals, finding);
  out.findings.push_back(std::move(finding));
}

void compare_range(const Encoder& sensor, int column, const SensorLimits& limits,
                   const Recording& recording, SignalExamination& out) {
  if (!(limits.highest > limits.lowest)) return;
  Excess excess;
  const double room = kRounding * (limits.highest - limits.lowest);
  for (const Segment& segment : recording.segments) {
    for (Eigen::Index k = 0; k < segment.angles.rows(); ++k) {
      const double reading = segment.angles(k, column);
      if (reading < limits.lowest - room || reading > limits.highest + room) {
        excess.add(segment.start + segment.time(k), reading);
      }
    }
  }
  const char* const unit = sensor.units().coordinate;
  report({MessageCode::kReadingBeyondRange,
          {{"encoder", sensor.name},
           {"lowest", limits.lowest},
           {"highest", Quantity{limits.highest, unit}}}},
         recording, sensor.name, excess, unit, out);
}

void compare_speed(const Encoder& sensor, int column, double quantum, double fastest,
                   const Recording& recording, SignalExamination& out) {
  if (!(fastest > 0.0)) return;
  Excess excess;
  for (const Segment& segment : recording.segments) {
    const ReadingSeries series =
        collect_observed_readings(segment, segment.angles.col(column), sensor.kind_traits().wraps);
    const NoiseScale scale(series, quantum);
    for (std::size_t first = 0, last = 0; last < series.size(); ++last) {
      const double error = quantum + kDeviations * scale.noise(last);
      const auto time = [&](std::size_t from) { return series.times[last] - series.times[from]; };
      while (first + 1 < last && kSpeedError * fastest * time(first + 1) >= error) ++first;
      if (!(kSpeedError * fastest * time(first) >= error)) continue;
      const double speed = (series.values[last] - series.values[first]) / time(first);
      if (std::abs(speed) > (1.0 + kSpeedError) * fastest) {
        excess.add(segment.start + series.times[last], speed);
      }
    }
  }
  const char* const unit = sensor.units().rate;
  report({MessageCode::kSpeedBeyondLimit,
          {{"encoder", sensor.name}, {"limit", Quantity{fastest, unit}}}},
         recording, sensor.name, excess, unit, out);
}

void compare_command(const std::string& motor, Eigen::Index column, double most,
                     const Recording& recording, SignalExamination& out) {
  if (!(most > 0.0)) return;
  Excess beyond, at;
  int rows = 0;
  for (const Segment& segment : recording.segments) {
    for (Eigen::Index k = 0; k + 1 < segment.controls.rows(); ++k, ++rows) {
      const double command = segment.controls(k, column), time = segment.start + segment.time(k);
      if (std::abs(command) > (1.0 + kRounding) * most) beyond.add(time, command);
      if (std::abs(std::abs(command) - most) <= kAtLimit * most) at.add(time, command);
    }
  }
  report({MessageCode::kCommandBeyondLimit, {{"motor", motor}, {"limit", most}}}, recording, motor,
         beyond, "", out);
  if (beyond.rows > 0 || at.rows < kOftenAtLimit * rows) return;
  report(
      {MessageCode::kCommandAtLimit, {{"motor", motor}, {"limit", most}, {"recorded_rows", rows}}},
      recording, motor, at, "", out);
}

/// Returns the uncertainty of the position of an end stop or encoder zero in the description.
double unknown_part(const Mechanism& mechanism, int parameter, double unit) {
  if (!is_changed_by_fit(mechanism, parameter)) return 0.0;
  const double known = kDeviations * mechanism.at(parameter).prior_standard_deviation;
  return std::min(known, kUnknownStop * unit);
}

void compare_stop(const Mechanism& mechanism, const JointStop& stop, const Encoder& sensor,
                  Eigen::Index column, double quantum, const Recording& recording,
                  SignalExamination& out) {
  const double unit = sensor.units().scale;
  const double room =
      kStopSlack * unit + quantum + unknown_part(mechanism, sensor.offset, unit) +
      unknown_part(mechanism, mechanism.joint_parameter_index(stop.joint, stop.where), unit);
  const double offset = mechanism.at(sensor.offset).value;
  Excess excess;
  for (const Segment& segment : recording.segments) {
    const ReadingSeries series =
        collect_observed_readings(segment, segment.angles.col(column), sensor.kind_traits().wraps);
    const NoiseScale scale(series, quantum);
    for (std::size_t k = 0; k < series.size(); ++k) {
      const double beyond =
          -stop.distance_from_stop(sensor.terms.front().sign * (series.values[k] + offset));
      if (beyond > room + kDeviations * scale.noise(k)) {
        excess.add(segment.start + series.times[k], beyond);
      }
    }
  }
  const char* const coordinate = sensor.units().coordinate;
  report({MessageCode::kReadingBeyondStop,
          {{"encoder", sensor.name},
           {"is_lower", stop.side > 0.0},
           {"stop", Quantity{stop.position, coordinate}}}},
         recording, sensor.name, excess, coordinate, out);
}

}  // namespace

void find_readings_beyond_stops(const Mechanism& mechanism, const std::vector<double>& quanta,
                                const Recording& recording, SignalExamination& out) {
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (const JointStop& stop : joint_end_stops(mechanism)) {
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      const Encoder& sensor = sensors[i];
      if (sensor.terms.size() != 1 || sensor.terms.front().joint != stop.joint) continue;
      compare_stop(mechanism, stop, sensor, static_cast<Eigen::Index>(i), quanta[i], recording,
                   out);
    }
  }
}

void find_limits_beyond_stops(const Mechanism& mechanism, const SensorDescription& facts,
                              SignalExamination& out) {
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (const JointStop& stop : joint_end_stops(mechanism)) {
    for (std::size_t i = 0; i < std::min(sensors.size(), facts.limits.size()); ++i) {
      const Encoder& sensor = sensors[i];
      const SensorLimits& limits = facts.limits[i];
      if (sensor.terms.size() != 1 || sensor.terms.front().joint != stop.joint) continue;
      if (!(limits.highest > limits.lowest)) continue;
      const double sign = sensor.terms.front().sign, unit = sensor.units().scale;
      const double limit = stop.side * sign > 0.0 ? limits.lowest : limits.highest;
      const double coordinate = sign * (limit + mechanism.at(sensor.offset).value);
      const double room =
          kRounding * (limits.highest - limits.lowest) +
          unknown_part(mechanism, sensor.offset, unit) +
          unknown_part(mechanism, mechanism.joint_parameter_index(stop.joint, stop.where), unit);
      const double beyond = -stop.distance_from_stop(coordinate);
      if (!(beyond > room)) continue;
      const char* const name = sensor.units().coordinate;
      out.findings.push_back(make_finding({MessageCode::kLimitBeyondStop,
                                           {{"joint", sensor.name},
                                            {"is_lower", stop.side > 0.0},
                                            {"limit", Quantity{coordinate, name}},
                                            {"stop", Quantity{stop.position, name}}}},
                                          "", sensor.name, {beyond, name}));
    }
  }
}

void find_limit_violations(const Mechanism& mechanism, const std::vector<double>& quanta,
                           const Recording& recording, const SensorDescription& facts,
                           SignalExamination& out) {
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (std::size_t i = 0; i < std::min(sensors.size(), facts.limits.size()); ++i) {
    const auto column = static_cast<int>(i);
    compare_range(sensors[i], column, facts.limits[i], recording, out);
    compare_speed(sensors[i], column, quanta[i], facts.limits[i].fastest, recording, out);
  }
  std::size_t motor = 0;
  for (const Joint& joint : mechanism.joints) {
    if (!joint.motor.present) continue;
    if (motor < facts.command_limit.size()) {
      compare_command(joint.name, static_cast<Eigen::Index>(motor), facts.command_limit[motor],
                      recording, out);
    }
    ++motor;
  }
}

}  // namespace estimator
