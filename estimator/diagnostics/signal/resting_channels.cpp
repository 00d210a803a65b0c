#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <ranges>
#include <span>
#include <utility>

#include "estimator/diagnostics/signal/channels.hpp"
#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/model/spanning_tree.hpp"

namespace estimator {
namespace {

/// A joint that cannot be in static equilibrium at its recorded position.
struct NonEquilibriumJoint {
  int sensor = 0;         ///< index of the sensor that measures the joint
  double reading = 0.0;   ///< recorded position [rad or m]
  double load = 0.0;      ///< load by gravity, springs and a constant command [N·m or N]
  double friction = 0.0;  ///< largest dry friction of the description [N·m or N]
};

/// Uncertainty of encoder zeros and end stops [rad].
constexpr double kZeroSlack = 0.1;
/// Largest assumed ratio of a free parameter to its initial value.
constexpr double kStartSlack = 10.0;

constexpr std::array kDryFriction = {JointParameter::kCoulombTorque,
                                     JointParameter::kStribeckTorque, JointParameter::kLoadFriction,
                                     JointParameter::kLoadFrictionAngular};
constexpr std::array kStaticTorques = {JointParameter::kConstantTorque, JointParameter::kStiffness,
                                       JointParameter::kRestAngle};

/// Returns the index of the encoder that reads each joint alone; nullopt if a joint has none.
std::optional<std::vector<int>> sensor_of_each_joint(const Mechanism& mechanism,
                                                     const std::vector<Encoder>& sensors) {
  std::vector<int> of_joint(static_cast<std::size_t>(mechanism.joint_count()), -1);
  for (int i = 0; i < std::ssize(sensors); ++i) {
    const Encoder& sensor = sensors[static_cast<std::size_t>(i)];
    if (sensor.terms.size() != 1) continue;
    of_joint[static_cast<std::size_t>(sensor.terms.front().joint)] = i;
  }
  if (std::ranges::count(of_joint, -1) > 0) return {};
  return of_joint;
}

/// Returns the first reading of a sensor; NaN if there is none.
double first_reading(const Recording& recording, Eigen::Index sensor) {
  for (const Segment& segment : recording.segments) {
    for (const double reading : segment.angles.col(sensor)) {
      if (!std::isnan(reading)) return reading;
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

bool is_any_estimated(const Mechanism& mechanism, int joint,
                      std::span<const JointParameter> quantities) {
  return std::ranges::any_of(quantities, [&](JointParameter quantity) {
    return is_changed_by_fit(mechanism, mechanism.joint_parameter_index(joint, quantity));
  });
}

/// Computes the static equilibrium of the joints at constant commands.
class StaticEquilibrium {
 public:
  StaticEquilibrium(const Mechanism& mechanism, const Recording& recording)
      : dynamics_(mechanism, parameter_values(mechanism)), control_(mechanism.joint_count()) {
    control_.setZero();
    Eigen::Index motor = 0;
    for (int j = 0; j < mechanism.joint_count(); ++j) {
      if (!mechanism.joints[static_cast<std::size_t>(j)].motor.present) continue;
      control_[j] = recording.segments.front().controls(0, motor++);
    }
  }

  double control(int joint) const { return control_[joint]; }

  /// Returns the load at each joint that dry friction would have to hold.
  Eigen::VectorXd static_loads(const Eigen::VectorXd& coordinates) {
    const JointVector<double> still = JointVector<double>::Zero(control_.size());
    JointVector<double> torque_residual(control_.size());
    dynamics_.torque_residual(coordinates, still, still, control_, torque_residual);
    return torque_residual;
  }

  /// Returns the smallest load at one joint over all encoder zeros within their uncertainty; 0 if
  /// the sign of the load is uncertain.
  double least_load(const Mechanism& mechanism, int joint, const Eigen::VectorXd& coordinates) {
    double least = static_loads(coordinates)[joint];
    for (Eigen::Index j = 0; j < coordinates.size(); ++j) {
      const JointKind kind = mechanism.joints[static_cast<std::size_t>(j)].kind;
      for (const double side : {1.0, -1.0}) {
        Eigen::VectorXd beside = coordinates;
        beside[j] += side * kZeroSlack * joint_units(kind).scale;
        const double load = static_loads(beside)[joint];
        if (!(load * least > 0.0)) return 0.0;
        if (std::abs(load) < std::abs(least)) least = load;
      }
    }
    return std::abs(least);
  }

  /// Returns the largest dry friction of a joint in the configuration evaluated last.
  double friction(int joint) const { return dynamics_.dry_friction_bound(joint, 0.0); }

 private:
  TreeInverseDynamics<double> dynamics_;
  JointVector<double> control_;
};

bool is_at_stop(const Mechanism& mechanism, int joint, double coordinate) {
  return std::ranges::any_of(joint_end_stops(mechanism), [&](const JointStop& stop) {
    const JointKind kind = mechanism.joints[static_cast<std::size_t>(joint)].kind;
    return stop.joint == joint &&
           stop.distance_from_stop(coordinate) <= kZeroSlack * joint_units(kind).scale;
  });
}

/// Returns whether the load and the friction of a joint are known to an order of magnitude.
bool is_known(const Mechanism& mechanism, int joint, double friction) {
  if (has_steep_friction(mechanism, joint) || is_any_estimated(mechanism, joint, kStaticTorques))
    return false;
  return friction > 0.0 || !is_any_estimated(mechanism, joint, kDryFriction);
}

/// Returns the joints that cannot be in static equilibrium at the recorded position. Their load
/// exceeds dry friction, or ten times its initial value if it is estimated, even if encoder zeros
/// are off by up to 0.1 rad. Skips joints at an end stop, joints with an unknown spring, joints
/// with unknown friction that starts at zero, mechanisms with loops, and mechanisms with joints
/// without their own encoder.
/// @param recording  a recording with constant readings and commands
std::vector<NonEquilibriumJoint> find_non_equilibrium_joints(const Mechanism& mechanism,
                                                             const Recording& recording) {
  std::vector<NonEquilibriumJoint> restless;
  if (recording.segments.empty() || !is_tree_mechanism(mechanism)) return restless;
  if (recording.segments.front().sample_count() == 0) return restless;
  if (!recording.segments.front().absent_bodies.empty()) return restless;
  if (mechanism.joint_count() > kTreeJointsMax) return restless;
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  const std::optional<std::vector<int>> sensor_of = sensor_of_each_joint(mechanism, sensors);
  if (!sensor_of) return restless;
  Eigen::VectorXd coordinates(mechanism.joint_count()), readings(mechanism.joint_count());
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const int i = (*sensor_of)[static_cast<std::size_t>(j)];
    const Encoder& sensor = sensors[static_cast<std::size_t>(i)];
    readings[j] = first_reading(recording, i);
    coordinates[j] = sensor.terms.front().sign * (readings[j] + mechanism.at(sensor.offset).value);
  }
  if (!coordinates.allFinite()) return restless;
  StaticEquilibrium equilibrium(mechanism, recording);
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const double load = equilibrium.least_load(mechanism, j, coordinates);
    const double friction = equilibrium.friction(j);
    if (!is_known(mechanism, j, friction) || is_at_stop(mechanism, j, coordinates[j])) continue;
    double held = friction * (is_any_estimated(mechanism, j, kDryFriction) ? kStartSlack : 1.0);
    if (is_changed_by_fit(mechanism,
                          mechanism.joint_parameter_index(j, JointParameter::kMotorGain))) {
      held +=
          kStartSlack * std::abs(mechanism.joint_parameter(j, JointParameter::kMotorGain).value *
                                 equilibrium.control(j));
    }
    if (!(load > held)) continue;
    restless.push_back({(*sensor_of)[static_cast<std::size_t>(j)], readings[j], load, friction});
  }
  return restless;
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

constexpr double kRestMin = 1.0;       // [s]; shorter ones are turning points and stiction
constexpr double kSameReading = 0.25;  // of a quantization step
/// Least share of an encoder's readings at which its rests are thinned. A fit with a fifth of the
/// readings at rest shifts the motion by a fifth of a quantization step, which is ten standard
/// deviations in the test for correlated residuals. The shift is proportional to the share.
constexpr double kShareMin = 0.05;
/// Largest number of readings kept at rest, relative to the readings in motion, within the limits
/// on the interval between two of them [s]. Readings at a low rate determine the states at rest.
constexpr double kKeptShare = 0.01, kEveryMin = 0.1, kEveryMax = 1.0;

/// An interval in which one encoder repeats a reading, given as the rows [first, last] of a
/// segment, both with a reading.
struct Rest {
  int segment, first, last;
  int readings = 1;  ///< without missing ones
};

/// Finds the rests of an encoder in a segment and appends them. Missing readings do not end a rest.
void append_rests(const Segment& segment, int index, int sensor, double quantum,
                  std::vector<Rest>& rests) {
  const auto drop_short = [&] {
    const Rest& rest = rests.back();
    if (segment.time(rest.last) - segment.time(rest.first) < kRestMin) rests.pop_back();
  };
  std::optional<double> repeated;
  for (int k = 0; k < segment.sample_count(); ++k) {
    const double reading = segment.angles(k, sensor);
    if (std::isnan(reading)) continue;
    if (repeated && std::abs(reading - *repeated) <= kSameReading * quantum) {
      rests.back().last = k;
      ++rests.back().readings;
      continue;
    }
    if (repeated) drop_short();
    repeated = reading;
    rests.push_back({index, k, k});
  }
  if (repeated) drop_short();
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
int thin_rest(const Segment& segment, const Rest& rest, int recording, int sensor, double interval,
              std::vector<RejectedReading>& rejected) {
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
    non_equilibrium_joints = find_non_equilibrium_joints(mechanism, recording);
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
      message.arguments.push_back({"position", Quantity{restless->reading, units.coordinate}});
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

void find_rest_intervals(const Encoder& encoder, int sensor, double quantum,
                         const Recording& recording, int index, SignalExamination& out) {
  if (!(quantum > 0.0)) return;
  std::vector<Rest> rests;
  for (int s = 0; s < std::ssize(recording.segments); ++s) {
    append_rests(recording.segments[static_cast<std::size_t>(s)], s, sensor, quantum, rests);
  }
  const int readings = count_readings(recording, sensor);
  int resting = 0;
  double duration = 0.0;
  std::vector<TimeInterval> intervals;
  for (const Rest& rest : rests) {
    const Segment& segment = recording.segments[static_cast<std::size_t>(rest.segment)];
    const double from = segment.time(rest.first), to = segment.time(rest.last);
    resting += rest.readings;
    duration += to - from;
    append_time_interval({segment.start + from, segment.start + to}, intervals);
  }
  if (!(resting > kShareMin * readings)) return;
  const double most = kKeptShare * (readings - resting);  // may be zero
  const double interval = std::clamp(duration / most, kEveryMin, kEveryMax);
  int rejected = 0;
  for (const Rest& rest : rests) {
    rejected += thin_rest(recording.segments[static_cast<std::size_t>(rest.segment)], rest, index,
                          sensor, interval, out.rejected);
  }
  const double share = static_cast<double>(resting) / readings;
  Finding finding = make_finding({MessageCode::kRestIntervals,
                                  {{"encoder", encoder.name},
                                   {"percent", 100.0 * share},
                                   {"first", intervals.front().from},
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
