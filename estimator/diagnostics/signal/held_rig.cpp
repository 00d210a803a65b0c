#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "estimator/diagnostics/signal/channels.hpp"
#include "estimator/diagnostics/signal/static_loads.hpp"
#include "estimator/signal/noise_level.hpp"

namespace estimator {
namespace {

/// Largest range of the readings of a joint that a hand holds [rad]; noise is added.
constexpr double kHandTremor = 0.03;
constexpr double kNoiseRange = 8.0;  // range of noisy readings, in standard deviations
constexpr double kHeldMin = 0.2;     // [s]
constexpr int kHeldRowsMin = 5;
/// Least ratio of the duration to the time in which the released rig would leave the range of the
/// readings. A turning point lasts twice this time. The rest allows for wrong inertias.
constexpr double kHeldRatio = 5.0;
/// Largest load in the middle of the motion before the end, relative to the load at rest. An
/// oscillation that decays to the rest position has its middle there. A larger ratio therefore
/// indicates that the encoder zero of the description is wrong.
constexpr double kMiddleLoad = 0.5;

/// The rows at the start or the end of a segment in which all joints stand still at zero command.
struct StillEnd {
  bool is_end = false;
  int rows = 0;
  double duration = 0.0;     ///< common to the readings of all encoders [s]
  Eigen::VectorXd readings;  ///< mean reading of each encoder; NaN if there are none
};

/// Readings of one encoder in successive rows, without jumps by full turns.
struct UnwrappedReadings {
  ValueRange range, time_range;
  double first = std::numeric_limits<double>::quiet_NaN();
  double sum = 0.0;
  int count = 0;

  double unwrap(const Encoder& sensor, double reading) const {
    return std::isnan(first) ? reading : first + sensor.reading_difference(reading - first);
  }
  void add(double unwrapped, double time) {
    if (std::isnan(unwrapped)) return;
    if (std::isnan(first)) first = unwrapped;
    range.add(unwrapped);
    time_range.add(time);
    sum += unwrapped;
    ++count;
  }
  double mean() const { return sum / count; }  ///< NaN without readings
  double middle() const { return 0.5 * (range.low + range.high); }
};

bool is_commanded(const Segment& segment, int row) {
  // The last row's command is held over no time.
  return row + 1 < segment.sample_count() && !(segment.controls.row(row).array() == 0.0).all();
}

StillEnd find_still_end(const std::vector<Encoder>& sensors, const Segment& segment,
                        const Eigen::VectorXd& bands, bool is_end) {
  StillEnd still{.is_end = is_end};
  std::vector<UnwrappedReadings> read(sensors.size());
  const auto moves_at = [&](int row) {
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      const auto column = static_cast<Eigen::Index>(i);
      ValueRange range = read[i].range;
      range.add(read[i].unwrap(sensors[i], segment.angles(row, column)));
      if (range.width() > bands[column]) return true;
    }
    return false;
  };
  for (; still.rows < segment.sample_count(); ++still.rows) {
    const int row = is_end ? segment.sample_count() - 1 - still.rows : still.rows;
    if (is_commanded(segment, row) || moves_at(row)) break;
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      const double reading = segment.angles(row, static_cast<Eigen::Index>(i));
      read[i].add(read[i].unwrap(sensors[i], reading), segment.time(row));
    }
  }
  still.readings.resize(std::ssize(sensors));
  still.duration = sensors.empty() ? 0.0 : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    still.readings[static_cast<Eigen::Index>(i)] = read[i].mean();
    still.duration = std::min(still.duration, read[i].time_range.width());
  }
  return still;
}

/// Returns readings with the missing ones replaced, and with the fewest turns from these.
Eigen::VectorXd near_readings(const std::vector<Encoder>& sensors, Eigen::VectorXd readings,
                              const Eigen::VectorXd& others) {
  for (Eigen::Index i = 0; i < readings.size(); ++i) {
    const double change =
        sensors[static_cast<std::size_t>(i)].reading_difference(readings[i] - others[i]);
    readings[i] = others[i] + (std::isnan(change) ? 0.0 : change);
  }
  return readings;
}

/// Returns whether the rig moves without a command after its rest at the start of a segment, and
/// the static loads do work in this motion, as in a release.
bool is_released(const Mechanism& mechanism, const std::vector<Encoder>& sensors,
                 const Segment& segment, const StillEnd& still, const Eigen::VectorXd& controls) {
  if (is_commanded(segment, still.rows)) return false;
  const Eigen::VectorXd moved =
      near_readings(sensors, segment.angles.row(still.rows).transpose(), still.readings);
  const Eigen::VectorXd coordinates = joint_coordinates(mechanism, still.readings);
  const Eigen::VectorXd displacement = joint_coordinates(mechanism, moved) - coordinates;
  return static_loads(mechanism, coordinates, controls).dot(displacement) < 0.0;
}

/// Returns whether a joint out of equilibrium at the end of a segment is nearly in equilibrium in
/// the middle of its motion before, so that the rest position is not that of a decayed motion.
bool is_caught(const Mechanism& mechanism, const std::vector<Encoder>& sensors,
               const Segment& segment, const StillEnd& still, const NonEquilibriumJoint& joint,
               const Eigen::VectorXd& controls) {
  Eigen::VectorXd middle = still.readings;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    UnwrappedReadings read{.first = still.readings[column]};
    for (int row = 0; row < segment.sample_count() - still.rows; ++row) {
      read.add(read.unwrap(sensors[i], segment.angles(row, column)), segment.time(row));
    }
    if (!read.range.is_empty()) middle[column] = read.middle();
  }
  const Eigen::VectorXd loads =
      static_loads(mechanism, joint_coordinates(mechanism, middle), controls);
  return std::abs(loads[joint.joint]) < kMiddleLoad * joint.load;
}

/// Appends a finding if the rig is held in the rows at the start or the end of a segment.
/// @param is_outer  whether these rows are at the start or the end of the recording, so that
///                  `--from` or `--to` can leave them out
void report_held_rig(const Mechanism& mechanism, const std::string& recording,
                     const Segment& segment, bool is_end, bool is_outer, SignalExamination& out) {
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  Eigen::VectorXd bands(std::ssize(sensors));
  for (Eigen::Index i = 0; i < bands.size(); ++i) {
    bands[i] = kHandTremor * sensors[static_cast<std::size_t>(i)].units().scale +
               kNoiseRange * estimate_noise_level(segment, i);
  }
  const StillEnd still = find_still_end(sensors, segment, bands, is_end);
  const int rows = segment.sample_count();
  if (still.rows < kHeldRowsMin || still.rows >= rows || !(still.duration >= kHeldMin)) return;
  const Eigen::VectorXd controls = Eigen::VectorXd::Zero(std::ssize(joints_with_motor(mechanism)));
  for (const NonEquilibriumJoint& joint :
       find_non_equilibrium_joints(mechanism, still.readings, controls)) {
    if (!(still.duration > kHeldRatio * joint.time_to_move(bands[joint.sensor]))) continue;
    if (is_end ? !is_caught(mechanism, sensors, segment, still, joint, controls)
               : !is_released(mechanism, sensors, segment, still, controls))
      continue;
    const int first = is_end ? rows - still.rows : 0;
    const int last = is_end ? rows - 1 : still.rows - 1;
    const double from = segment.start + segment.time(first);
    const double to = segment.start + segment.time(last);
    const Joint& moved = mechanism.joints[static_cast<std::size_t>(joint.joint)];
    Message message(MessageCode::kHeldRig,
                    {{"joints", mechanism.joint_count()},
                     {"is_end", is_end},
                     {"time", is_end ? from : to},
                     {"joint", moved.name},
                     {"position", Quantity{joint.coordinate, moved.units().coordinate}},
                     {"load", Quantity{joint.load, moved.units().force}},
                     {"friction", Quantity{joint.friction, moved.units().force}}});
    if (is_outer) {
      const int nearest = is_end ? first - 1 : last + 1;
      message.arguments.push_back({"option", std::string(is_end ? "--to" : "--from")});
      message.arguments.push_back({"limit", segment.start + segment.time(nearest)});
    }
    Finding finding =
        make_finding(std::move(message), recording,
                     sensors[static_cast<std::size_t>(joint.sensor)].name, {to - from, "s"});
    set_time_intervals({{from, to}}, finding);
    out.findings.push_back(std::move(finding));
    return;
  }
}

}  // namespace

void find_held_rig(const Mechanism& mechanism, const Recording& recording,
                   SignalExamination& out) {
  const int segments = static_cast<int>(recording.segments.size());
  for (int s = 0; s < segments; ++s) {
    const Segment& segment = recording.segments[static_cast<std::size_t>(s)];
    if (!segment.absent_bodies.empty()) continue;
    report_held_rig(mechanism, recording.name, segment, false, s == 0, out);
    report_held_rig(mechanism, recording.name, segment, true, s + 1 == segments, out);
  }
}

}  // namespace estimator
