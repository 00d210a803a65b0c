#include <algorithm>
#include <cmath>
#include <ranges>
#include <utility>

#include "estimator/diagnostics/signal/channels.hpp"
#include "estimator/diagnostics/signal/static_loads.hpp"

namespace estimator {
namespace {

/// Returns the first reading of a sensor; NaN if there is none.
double first_reading(const Recording& recording, Eigen::Index sensor) {
  for (const Segment& segment : recording.segments) {
    for (const double reading : segment.angles.col(sensor)) {
      if (!std::isnan(reading)) return reading;
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// Returns the joints that cannot rest in a recording with constant readings and commands.
std::vector<NonEquilibriumJoint> joints_out_of_equilibrium(const Mechanism& mechanism,
                                                           const Recording& recording) {
  if (recording.segments.empty() || recording.segments.front().sample_count() == 0) return {};
  const Segment& segment = recording.segments.front();
  if (!segment.absent_bodies.empty()) return {};
  Eigen::VectorXd readings(segment.angles.cols());
  for (Eigen::Index i = 0; i < readings.size(); ++i) readings[i] = first_reading(recording, i);
  return find_non_equilibrium_joints(mechanism, readings, segment.controls.row(0).transpose());
}

ValueRange command_range(const Recording& recording, int motor) {
  ValueRange range;
  for (const Segment& segment : recording.segments) {
    // The last row's command is held over no time.
    for (Eigen::Index k = 0; k + 1 < segment.controls.rows(); ++k) {
      range.add(segment.controls(k, motor));
    }
  }
  return range;
}

constexpr double kRestMin = 1.0;       // [s]; most shorter ones are turning points
constexpr double kSameReading = 0.25;  // of a quantization step
/// Smallest duration of a short rest [s], and its smallest ratio to the time within the
/// quantization steps before and after it. At a turning point with constant acceleration on either
/// side, the ratio is at most 2/(√2 − 1) = 4.8.
constexpr double kShortRestMin = 0.1;
constexpr double kTurningRatio = 5.0;
/// Least share of an encoder's readings at which its rests are thinned; of the other readings for
/// short rests. A fit with a fifth of the readings at rest shifts the motion by a fifth of a
/// quantization step, which is ten standard deviations in the test for correlated residuals. The
/// shift is proportional to the share.
constexpr double kShareMin = 0.05;
/// Largest number of readings kept at rest, relative to the readings in motion, within the limits
/// on the interval between two of them [s]. Readings at a low rate determine the states at rest.
constexpr double kKeptShare = 0.01, kEveryMin = 0.1, kEveryMax = 1.0;

/// Returns the intervals in which an encoder repeats a reading, in order. Missing readings do not
/// end an interval.
std::vector<RestInterval> find_repetitions(const Segment& segment, int index, int sensor,
                                           double quantum) {
  std::vector<RestInterval> runs;
  double repeated = 0.0;
  for (int k = 0; k < segment.sample_count(); ++k) {
    const double reading = segment.angles(k, sensor);
    if (std::isnan(reading)) continue;
    if (!runs.empty() && std::abs(reading - repeated) <= kSameReading * quantum) {
      runs.back().last = k;
      ++runs.back().readings;
      continue;
    }
    repeated = reading;
    runs.push_back({index, k, k});
  }
  return runs;
}

/// Removes short rests, or all rests, if their share of the readings is small.
/// @param readings  number of readings of the encoder
void remove_rare_rests(int readings, std::vector<RestInterval>& rests) {
  int resting = 0, briefly = 0;
  for (const RestInterval& rest : rests) (rest.is_short ? briefly : resting) += rest.readings;
  if (!(briefly > kShareMin * (readings - resting))) std::erase_if(rests, &RestInterval::is_short);
  const bool is_rare = !(resting > kShareMin * readings);
  if (is_rare) std::erase_if(rests, [](const RestInterval& rest) { return !rest.is_short; });
}

/// Returns whether a hand holds the rig in one of these time intervals, according to the findings.
bool is_rig_held(const std::vector<Finding>& findings, const std::string& recording,
                 const std::vector<TimeInterval>& intervals) {
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    return finding.message.code == MessageCode::kHeldRig && finding.recording == recording &&
           std::ranges::any_of(intervals, [&](const TimeInterval& each) {
             return each.from <= finding.to && finding.from <= each.to;
           });
  });
}

int count_readings(const Recording& recording, int sensor) {
  int count = 0;
  for (const Segment& segment : recording.segments) {
    count += static_cast<int>((!segment.angles.col(sensor).array().isNaN()).count());
  }
  return count;
}

/// Rejects the readings of a rest, except its first and last and those `interval` apart. Returns
/// the number of rejected readings.
int thin_rest(const Segment& segment, const RestInterval& rest, int recording, int sensor,
              double interval, std::vector<RejectedReading>& rejected) {
  int count = 0;
  double kept = segment.time(rest.first);
  for (int k = rest.first + 1; k < rest.last; ++k) {
    if (std::isnan(segment.angles(k, sensor))) continue;
    if (segment.time(k) - kept >= interval) {
      kept = segment.time(k);
      continue;
    }
    rejected.push_back({recording, rest.segment, sensor, k});
    ++count;
  }
  return count;
}

}  // namespace

void find_dead_channels(const Mechanism& mechanism, const Recording& recording,
                        SignalExamination& out) {
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  bool commanded = false;
  const auto motors = static_cast<int>(joints_with_motor(mechanism).size());
  for (int m = 0; m < motors; ++m) commanded |= command_range(recording, m).width() > 0.0;
  std::vector<ValueRange> ranges(sensors.size());
  for (int i = 0; i < std::ssize(sensors); ++i) {
    ranges[static_cast<std::size_t>(i)].add(recording.segments, i);
  }
  const auto moves = [&](std::size_t i) {
    return ranges[i].width() > kReadingRounding * sensors[i].units().scale;
  };
  std::vector<NonEquilibriumJoint> non_equilibrium_joints;
  if (std::ranges::none_of(std::views::iota(0U, sensors.size()), moves) && !commanded) {
    non_equilibrium_joints = joints_out_of_equilibrium(mechanism, recording);
  }
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    if (moves(i)) continue;
    std::string other;
    for (std::size_t j = 0; j < sensors.size(); ++j) {
      if (moves(j)) other = sensors[j].name;
    }
    const bool empty = ranges[i].is_empty();
    const bool is_still = !empty && other.empty() && !commanded;
    const auto restless = std::ranges::find(non_equilibrium_joints, static_cast<int>(i),
                                            &NonEquilibriumJoint::sensor);
    if (is_still && restless == non_equilibrium_joints.end()) continue;  // it may rest
    Message message(MessageCode::kDeadChannel,
                    {{"encoder", sensors[i].name},
                     {"is_empty", empty},
                     {"is_commanded", !empty && !is_still && other.empty()}});
    if (is_still) {
      const JointUnits units = sensors[i].units();
      const double reading = first_reading(recording, restless->sensor);
      message.arguments.push_back({"position", Quantity{reading, units.coordinate}});
      message.arguments.push_back({"load", Quantity{restless->load, units.force}});
      message.arguments.push_back({"friction", Quantity{restless->friction, units.force}});
    }
    if (!empty && !other.empty()) message.arguments.push_back({"moving_encoder", other});
    out.findings.push_back(make_finding(std::move(message), recording.name, sensors[i].name));
  }
}

void find_constant_commands(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                            SignalExamination& out) {
  int motor = 0;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    if (!joint.motor.present) continue;
    const bool driven = std::ranges::any_of(recordings, [&](const Recording& recording) {
      return command_range(recording, motor).width() > 0.0;
    });
    const bool lacks = !driven && mechanism.joint_parameter(j, JointParameter::kMotorGain).free;
    for (const Recording& recording : recordings) {
      const ValueRange range = command_range(recording, motor);
      if (range.is_empty() || range.width() > 0.0) continue;
      out.findings.push_back(
          make_finding({MessageCode::kConstantCommand,
                        {{"motor", joint.name}, {"command", range.low}, {"is_gain_wanted", lacks}}},
                       recording.name, joint.name, {range.low}));
    }
    ++motor;
  }
}

std::vector<RestInterval> find_segment_rests(const Segment& segment, int index, int sensor,
                                             double quantum) {
  std::vector<RestInterval> runs = find_repetitions(segment, index, sensor, quantum), rests;
  const auto duration = [&](std::size_t k) {
    return segment.time(runs[k].last) - segment.time(runs[k].first);
  };
  for (std::size_t k = 0; k < runs.size(); ++k) {
    double beside = 0.0;
    if (k > 0) beside = duration(k - 1);
    if (k + 1 < runs.size()) beside = std::max(beside, duration(k + 1));
    runs[k].is_short = duration(k) < kRestMin;
    beside += 2.0 * segment.period;  // the time between the changes of the readings is longer
    const bool may_turn = duration(k) < std::max(kShortRestMin, kTurningRatio * beside);
    if (!runs[k].is_short || !may_turn) rests.push_back(runs[k]);
  }
  return rests;
}

void find_rest_intervals(const Encoder& encoder, int sensor, double quantum,
                         const Recording& recording, int index, SignalExamination& out) {
  if (!(quantum > 0.0)) return;
  std::vector<RestInterval> rests;
  for (int s = 0; s < std::ssize(recording.segments); ++s) {
    std::ranges::move(
        find_segment_rests(recording.segments[static_cast<std::size_t>(s)], s, sensor, quantum),
        std::back_inserter(rests));
  }
  const int readings = count_readings(recording, sensor);
  remove_rare_rests(readings, rests);
  if (rests.empty()) return;
  int resting = 0;
  double duration = 0.0;
  std::vector<TimeInterval> intervals;
  for (const RestInterval& rest : rests) {
    const Segment& segment = recording.segments[static_cast<std::size_t>(rest.segment)];
    const double from = segment.time(rest.first), to = segment.time(rest.last);
    resting += rest.readings;
    duration += to - from;
    append_time_interval({segment.start + from, segment.start + to}, intervals);
  }
  const double most = kKeptShare * (readings - resting);  // may be zero
  const double interval = std::clamp(duration / most, kEveryMin, kEveryMax);
  int rejected = 0;
  for (const RestInterval& rest : rests) {
    rejected += thin_rest(recording.segments[static_cast<std::size_t>(rest.segment)], rest, index,
                          sensor, interval, out.rejected);
  }
  const double share = static_cast<double>(resting) / readings;
  const bool is_held = is_rig_held(out.findings, recording.name, intervals);
  Finding finding = make_finding({MessageCode::kRestIntervals,
                                  {{"encoder", encoder.name},
                                   {"percent", 100.0 * share},
                                   {"first", intervals.front().from},
                                   {"is_held", is_held},
                                   {"interval", Quantity{interval, "s"}},
                                   {"rejected", rejected}}},
                                 recording.name, encoder.name, {share, "-"});
  set_time_intervals(std::move(intervals), finding);
  finding.treated = true;
  out.findings.push_back(std::move(finding));
}

SignalExamination find_all_rest_intervals(const Mechanism& mechanism,
                                          const std::vector<Recording>& recordings,
                                          const Eigen::VectorXd& quanta) {
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  SignalExamination found;
  for (std::size_t r = 0; r < recordings.size(); ++r) {
    Recording rounded = recordings[r];
    for (int i = 0; i < std::ssize(sensors); ++i) {
      const double quantum = quanta[i];
      if (!(quantum > 0.0)) continue;
      for (Segment& segment : rounded.segments) {
        segment.angles.col(i) = quantum * (segment.angles.col(i) / quantum).array().round();
      }
      find_rest_intervals(sensors[static_cast<std::size_t>(i)], i, quantum, rounded,
                          static_cast<int>(r), found);
    }
  }
  return found;
}

std::vector<Recording> thin_readings_at_rest(const Mechanism& mechanism,
                                             std::vector<Recording> recordings,
                                             const Eigen::VectorXd& quanta) {
  const SignalExamination found = find_all_rest_intervals(mechanism, recordings, quanta);
  for (std::size_t r = 0; r < recordings.size(); ++r) {
    recordings[r] = without_rejected(std::move(recordings[r]), static_cast<int>(r), found.rejected);
  }
  return recordings;
}

}  // namespace estimator
