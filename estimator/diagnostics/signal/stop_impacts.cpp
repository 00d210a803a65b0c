#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "estimator/diagnostics/jumps/reading_series.hpp"
#include "estimator/diagnostics/signal/channels.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

constexpr std::size_t kWindows[] = {2, 4, 8, 16};  // readings for a speed
constexpr double kSpeedDeviations = 5.0;           // standard deviations of a speed's noise
constexpr double kAccelerations = 2.0;             // times the sustained acceleration: no impact
constexpr double kReboundMost = 1.1;               // ratio of the speeds after and before an impact
constexpr int kImpactsMin = 3;
constexpr double kCommonShare = 0.8;  // least share of all impacts on a side at one position
constexpr double kWidth = 0.01;       // tolerance of that position [rad]
constexpr double kDescribed = 0.1;    // largest distance to a described stop [rad]

/// Largest distance of a free stop from a single impact that gives its initial position [rad].
/// Further away, kImpactsMin impacts are needed, since dry friction stops a joint like an impact.
constexpr double kOneImpactReach = 0.3;
/// Smallest and largest initial restitution from impacts. From its bounds, a fit may not return.
constexpr double kRestitutionLeast = 0.05, kRestitutionMost = 0.95;

/// A jump of a joint's speed between two readings.
struct StopImpact {
  double time = 0.0;                 ///< time in the recording [s]
  double place = 0.0;                ///< [rad or m]
  double before = 0.0, after = 0.0;  ///< speeds [rad/s or m/s]
  double rating = 0.0;               ///< jump over its unexplained threshold
  double width = 0.0;                ///< uncertainty of the position [rad or m]
};

/// Returns the speed jump between readings k − 1 and k, from `window` readings on either side.
StopImpact impact_at(const ReadingSeries& series, const NoiseScale& scale, double acceleration,
                     std::size_t k, std::size_t window) {
  const double T = series.period, n = static_cast<double>(window);
  const double noise = std::sqrt(24.0 / (n * (n * n - 1.0))) * scale.noise(k) / T;
  const double counting = 3.0 * scale.quantum() / (n * T);
  const double explained =
      std::max(kSpeedDeviations * noise, counting) + kAccelerations * acceleration / T * n;
  const std::vector<double>& y = series.values;
  const double secants = y[k + window - 1] - y[k] - y[k - 1] + y[k - window];
  if (!(std::abs(secants) > 0.5 * explained * (n - 1.0) * T)) return {};  // far below the threshold
  const PolynomialFit before(series, k - window, window, 1), after(series, k, window, 1);
  const double time = 0.5 * (series.times[k - 1] + series.times[k]);
  StopImpact impact;
  impact.time = time;
  impact.before = before.slope(time);
  impact.after = after.slope(time);
  impact.place = 0.5 * (before.value(time) + after.value(time));
  impact.rating = std::abs(impact.after - impact.before) / explained;
  impact.width = std::abs(impact.before) * T + kSpeedDeviations * scale.noise(k) + scale.quantum();
  const bool turns = impact.after * impact.before <= 0.0 || std::abs(impact.after) < explained;
  const bool slower = std::abs(impact.after) <= kReboundMost * std::abs(impact.before) + explained;
  if (!turns || !slower || !std::isfinite(impact.rating)) impact.rating = 0.0;
  return impact;
}

/// Adds the largest speed jumps of a segment, each one once.
void add_impacts(const ReadingSeries& series, const NoiseScale& scale, double start,
                 std::vector<StopImpact>& impacts) {
  constexpr std::size_t kLongest = kWindows[std::size(kWindows) - 1];
  if (series.size() < 4 * kLongest) return;
  const double acceleration = scale.sustained_acceleration_over_strides(kLongest);
  const auto rated = [&](std::size_t k) {
    StopImpact best;
    for (const std::size_t window : kWindows) {
      if (k < window || k + window > series.size()) break;
      if (!series.is_dense(k - window, 2 * window)) break;
      const StopImpact impact = impact_at(series, scale, acceleration, k, window);
      if (impact.rating > best.rating) best = impact;
    }
    return best;
  };
  std::size_t last = 0;
  for (std::size_t k = kWindows[0]; k + kWindows[0] <= series.size(); ++k) {
    StopImpact impact = rated(k);
    if (!(impact.rating > 1.0)) continue;
    impact.time += start;
    if (last > 0 && k - last <= kLongest) {
      if (impact.rating > impacts.back().rating) impacts.back() = impact;
    } else {
      impacts.push_back(impact);
    }
    last = k;
  }
}

/// The impacts and the range of an encoder's readings.
struct ImpactRecord {
  std::vector<StopImpact> impacts;
  ValueRange range;

  void add(const Recording& recording, const Encoder& sensor, Eigen::Index column, double quantum) {
    for (const Segment& segment : recording.segments) {
      const ReadingSeries series = collect_observed_readings(segment, segment.angles.col(column),
                                                             sensor.kind_traits().wraps);
      add_impacts(series, NoiseScale(series, quantum), segment.start, impacts);
      for (const double value : series.values) range.add(value);
    }
  }
  /// Returns the furthest reading on a side, 1 or −1.
  double extreme(double side) const { return side > 0.0 ? range.high : range.low; }
};

/// The end stop on one side of a joint's range, estimated from impacts.
struct ImpactedStop {
  int impact_count = 0;
  double place = 0.0, restitution = 0.0, fastest = 0.0;
  std::vector<TimeInterval> intervals;
};

/// Returns the end stop on one side of a joint, estimated from the impacts of its speed.
/// @param side     sign of the rate before an impact at the stop: 1 or −1
/// @param extreme  largest reading for side 1, smallest for side −1
ImpactedStop impacted_stop(std::vector<StopImpact> impacts, double side, double extreme,
                           double unit) {
  std::erase_if(impacts, [&](const StopImpact& each) { return side * each.before <= 0.0; });
  ImpactedStop stop;
  if (std::ssize(impacts) < kImpactsMin) return stop;
  std::vector<double> places, rebounds;
  for (const StopImpact& each : impacts) places.push_back(each.place);
  const double place = compute_median(places);
  const auto is_there = [&](const StopImpact& each) {
    return std::abs(each.place - place) <= kWidth * unit + each.width;
  };
  double width = 0.0;
  for (const StopImpact& each : impacts) {
    if (!is_there(each)) continue;
    ++stop.impact_count;
    append_time_interval({each.time, each.time}, stop.intervals);
    stop.fastest = std::max(stop.fastest, std::abs(each.before));
    width = std::max(width, each.width);
    rebounds.push_back(std::clamp(-each.after / each.before, 0.0, 1.0));
  }
  const bool common = stop.impact_count >= kCommonShare * static_cast<double>(impacts.size());
  const bool furthest = side * (extreme - place) <= kWidth * unit + width;
  if (stop.impact_count < kImpactsMin || !common || !furthest) return {};
  stop.place = place;
  stop.restitution = compute_median(rebounds);
  return stop;
}

/// Returns whether the initial value of a parameter may be changed.
bool has_free_start(const Mechanism& mechanism, int parameter) {
  return mechanism.at(parameter).free &&
         !std::isfinite(mechanism.at(parameter).prior_standard_deviation);
}

/// Sets the initial position of a stop to a joint coordinate, if it is free and within its bounds.
void start_stop_at(const Mechanism& mechanism, const JointStop& stop, double coordinate,
                   SignalExamination& out) {
  const int where = mechanism.joint_parameter_index(stop.joint, stop.where);
  const Parameter& position = mechanism.at(where);
  if (!has_free_start(mechanism, where)) return;
  if (coordinate <= position.lower || coordinate >= position.upper) return;
  out.stop_starts.push_back({where, coordinate});
  const Joint& joint = mechanism.joints[static_cast<std::size_t>(stop.joint)];
  if (std::abs(coordinate - stop.position) <= kStopSlack * joint.units().scale) return;
  const std::string unit = joint.units().coordinate;
  Finding finding = make_finding({MessageCode::kMisplacedStop,
                                  {{"joint", joint.name},
                                   {"is_lower", stop.side > 0.0},
                                   {"is_free", true},
                                   {"given", Quantity{stop.position, unit}},
                                   {"start", Quantity{coordinate, unit}}}},
                                 "", joint.name, {coordinate - stop.position, unit});
  finding.severity = Severity::kNote;
  finding.treated = true;
  out.findings.push_back(std::move(finding));
}

/// Returns the joint coordinate at the furthest reading on the side of a stop.
double furthest_coordinate(const Mechanism& mechanism, const JointStop& stop, const Encoder& sensor,
                           const ImpactRecord& record) {
  const double sign = sensor.terms.front().sign;
  return sign * (record.extreme(-stop.side * sign) + mechanism.at(sensor.offset).value);
}

/// Adds the initial values of a stop from the impacts of its joint's encoder.
void add_initial_stop(const Mechanism& mechanism, const JointStop& stop, const Encoder& sensor,
                      const ImpactRecord& record, double quantum, SignalExamination& out) {
  const double unit = sensor.units().scale;
  const double side = -stop.side * sensor.terms.front().sign, extreme = record.extreme(side);
  const double coordinate = furthest_coordinate(mechanism, stop, sensor, record);
  const double distance = stop.distance_from_stop(coordinate);
  std::vector<double> rebounds;
  for (const StopImpact& each : record.impacts) {
    const bool is_there = std::abs(each.place - extreme) <= kWidth * unit + each.width;
    if (side * each.before <= 0.0 || !is_there) continue;
    rebounds.push_back(std::clamp(-each.after / each.before, kRestitutionLeast, kRestitutionMost));
  }
  const int needed = distance <= kOneImpactReach * unit ? 1 : kImpactsMin;
  const bool has_impact = std::ssize(rebounds) >= needed;
  if (!has_impact && distance >= -quantum) return;
  const int restitution = mechanism.joint_parameter_index(stop.joint, JointParameter::kRestitution);
  if (has_impact && has_free_start(mechanism, restitution)) {
    out.stop_starts.push_back({restitution, compute_median(rebounds)});
  }
  start_stop_at(mechanism, stop, coordinate, out);
}

/// Returns whether an encoder rests at a reading.
bool rests_at(const std::vector<Recording>& recordings, std::size_t column, double reading,
              double quantum) {
  if (!(quantum > 0.0)) return false;
  const auto sensor = static_cast<int>(column);
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      for (const RestInterval& rest : find_segment_rests(segment, 0, sensor, quantum)) {
        if (std::abs(segment.angles(rest.first, sensor) - reading) <= 0.5 * quantum) return true;
      }
    }
  }
  return false;
}

/// Calls `work` for each end stop and each encoder that reads only its joint, with the impacts in
/// all recordings.
template <typename Work>
void for_each_stop(const Mechanism& mechanism, const std::vector<double>& quanta,
                   const std::vector<Recording>& recordings, const Work& work) {
  if (!is_tree_mechanism(mechanism)) return;
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    if (sensors[i].terms.size() != 1) continue;
    std::vector<JointStop> stops = joint_end_stops(mechanism);
    std::erase_if(stops, [&](const JointStop& stop) {
      return stop.joint != sensors[i].terms.front().joint;
    });
    if (stops.empty()) continue;
    ImpactRecord record;
    for (const Recording& recording : recordings) {
      record.add(recording, sensors[i], static_cast<Eigen::Index>(i), quanta[i]);
    }
    if (record.range.is_empty()) continue;
    for (const JointStop& stop : stops) work(stop, sensors[i], i, record);
  }
}

Finding undescribed_stop_finding(const Encoder& sensor, const Recording& recording,
                                 const ImpactedStop& stop, double coordinate, bool upper) {
  const JointUnits units = sensor.units();
  Finding finding = make_finding({MessageCode::kUndescribedStop,
                                  {{"encoder", sensor.name},
                                   {"is_upper", upper},
                                   {"value", coordinate},
                                   {"unit", std::string(units.coordinate)},
                                   {"impacts", stop.impact_count},
                                   {"speed", Quantity{stop.fastest, units.rate}},
                                   {"restitution", stop.restitution}}},
                                 recording.name, sensor.name, {coordinate, units.coordinate});
  set_time_intervals(stop.intervals, finding);
  return finding;
}

}  // namespace

void find_undescribed_stops(const Mechanism& mechanism, const std::vector<double>& quanta,
                            const Recording& recording, SignalExamination& out) {
  if (!is_tree_mechanism(mechanism)) return;  // aligned links reverse a joint like a stop
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  const std::vector<JointStop> described = joint_end_stops(mechanism);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    const Encoder& sensor = sensors[i];
    if (sensor.terms.size() != 1) continue;
    const double unit = sensor.units().scale;
    ImpactRecord record;
    record.add(recording, sensor, static_cast<Eigen::Index>(i), quanta[i]);
    for (const double side : {1.0, -1.0}) {
      const ImpactedStop stop = impacted_stop(record.impacts, side, record.extreme(side), unit);
      if (stop.impact_count == 0) continue;
      const double sign = sensor.terms.front().sign;
      const double coordinate = sign * (stop.place + mechanism.at(sensor.offset).value);
      const bool upper = side * sign > 0.0;
      const bool known = std::ranges::any_of(described, [&](const JointStop& each) {
        return each.joint == sensor.terms.front().joint && (each.side < 0.0) == upper &&
               (std::abs(each.position - coordinate) <= kDescribed * unit ||
                has_free_start(mechanism, mechanism.joint_parameter_index(each.joint, each.where)));
      });
      if (known) continue;
      out.findings.push_back(undescribed_stop_finding(sensor, recording, stop, coordinate, upper));
    }
  }
}

void find_initial_stops(const Mechanism& mechanism, const std::vector<double>& quanta,
                        const std::vector<Recording>& recordings, SignalExamination& out) {
  for_each_stop(mechanism, quanta, recordings,
                [&](const JointStop& stop, const Encoder& sensor, std::size_t column,
                    const ImpactRecord& record) {
                  add_initial_stop(mechanism, stop, sensor, record, quanta[column], out);
                });
}

void find_stops_where_joints_rest(const Mechanism& mechanism, const std::vector<double>& quanta,
                                  const std::vector<Recording>& recordings,
                                  SignalExamination& out) {
  for_each_stop(mechanism, quanta, recordings,
                [&](const JointStop& stop, const Encoder& sensor, std::size_t column,
                    const ImpactRecord& record) {
                  const double quantum = quanta[column];
                  const double extreme = record.extreme(-stop.side * sensor.terms.front().sign);
                  const double coordinate = furthest_coordinate(mechanism, stop, sensor, record);
                  const bool is_beyond = stop.distance_from_stop(coordinate) > quantum;
                  if (!is_beyond || !rests_at(recordings, column, extreme, quantum)) return;
                  start_stop_at(mechanism, stop, coordinate, out);
                });
}

}  // namespace estimator
