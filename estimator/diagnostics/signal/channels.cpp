#include "estimator/diagnostics/signal/channels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <ranges>
#include <span>
#include <utility>

#include "estimator/diagnostics/jumps/reading_series.hpp"
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

constexpr std::array kDryFriction = {JointQuantity::kCoulombTorque, JointQuantity::kStribeckTorque,
                                     JointQuantity::kLoadFriction,
                                     JointQuantity::kLoadFrictionAngular};
constexpr std::array kPulls = {JointQuantity::kConstantTorque, JointQuantity::kStiffness,
                               JointQuantity::kRestAngle};

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

bool any_varies(const Mechanism& mechanism, int joint, std::span<const JointQuantity> quantities) {
  return std::ranges::any_of(quantities, [&](JointQuantity quantity) {
    return changes_in_fit(mechanism, mechanism.index_of_joint(joint, quantity));
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
      if (!mechanism.joints[static_cast<std::size_t>(j)].motorised) continue;
      control_[j] = recording.segments.front().controls(0, motor++);
    }
  }

  double control(int joint) const { return control_[joint]; }

  /// Returns the load at each joint that dry friction would have to hold.
  Eigen::VectorXd pulls(const Eigen::VectorXd& coordinates) {
    const JointVector<double> still = JointVector<double>::Zero(control_.size());
    JointVector<double> torque_residual(control_.size());
    dynamics_.torque_residual(coordinates, still, still, control_, torque_residual);
    return torque_residual;
  }

  /// Returns the smallest load at one joint over all encoder zeros within their uncertainty; 0 if
  /// the sign of the load is uncertain.
  double least_load(const Mechanism& mechanism, int joint, const Eigen::VectorXd& coordinates) {
    double least = pulls(coordinates)[joint];
    for (Eigen::Index j = 0; j < coordinates.size(); ++j) {
      const JointKind kind = mechanism.joints[static_cast<std::size_t>(j)].kind;
      for (const double side : {1.0, -1.0}) {
        Eigen::VectorXd beside = coordinates;
        beside[j] += side * kZeroSlack * joint_units(kind).scale;
        const double load = pulls(beside)[joint];
        if (!(load * least > 0.0)) return 0.0;
        if (std::abs(load) < std::abs(least)) least = load;
      }
    }
    return std::abs(least);
  }

  /// Returns the largest dry friction of a joint in the configuration evaluated last.
  double friction(int joint) const { return dynamics_.dry_bound(joint, 0.0); }

 private:
  TreeInverseDynamics<double> dynamics_;
  JointVector<double> control_;
};

bool is_at_stop(const Mechanism& mechanism, int joint, double coordinate) {
  return std::ranges::any_of(joint_stops(mechanism), [&](const JointStop& stop) {
    const JointKind kind = mechanism.joints[static_cast<std::size_t>(joint)].kind;
    return stop.joint == joint && stop.distance(coordinate) <= kZeroSlack * joint_units(kind).scale;
  });
}

/// Returns whether the load and the friction of a joint are known to an order of magnitude.
bool is_known(const Mechanism& mechanism, int joint, double friction) {
  if (has_steep_law(mechanism, joint) || any_varies(mechanism, joint, kPulls)) return false;
  return friction > 0.0 || !any_varies(mechanism, joint, kDryFriction);
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
  if (recording.segments.empty() || !is_tree(mechanism)) return restless;
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
    coordinates[j] =
        sensor.terms.front().sign * (readings[j] + parameter_at(mechanism, sensor.offset).value);
  }
  if (!coordinates.allFinite()) return restless;
  StaticEquilibrium standstill(mechanism, recording);
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const double load = standstill.least_load(mechanism, j, coordinates);
    const double friction = standstill.friction(j);
    if (!is_known(mechanism, j, friction) || is_at_stop(mechanism, j, coordinates[j])) continue;
    double held = friction * (any_varies(mechanism, j, kDryFriction) ? kStartSlack : 1.0);
    if (changes_in_fit(mechanism, mechanism.index_of_joint(j, JointQuantity::kMotorGain))) {
      held += kStartSlack * std::abs(mechanism.joint_parameter(j, JointQuantity::kMotorGain).value *
                                     standstill.control(j));
    }
    if (!(load > held)) continue;
    restless.push_back({(*sensor_of)[static_cast<std::size_t>(j)], readings[j], load, friction});
  }
  return restless;
}

constexpr double kRest = 1e-9;   // [rad]; less is rounding
constexpr double kAtEnd = 0.25;  // counts; tolerance for a reading at an end of the range

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

/// Returns whether any joint that a sensor measures has end stops, at which it may rest.
bool has_stops(const Mechanism& mechanism, const Encoder& sensor) {
  return std::ranges::any_of(joint_stops(mechanism), [&](const JointStop& stop) {
    return std::ranges::any_of(sensor.terms,
                               [&](const Encoder::Term& term) { return term.joint == stop.joint; });
  });
}

/// Finds plateaus at the largest or smallest reading of a sensor.
struct PlateauSearch {
  const ReadingSeries& series;
  const NoiseScale& scale;
  double end;   ///< reading at the plateau
  double side;  ///< +1 for the largest reading, −1 for the smallest
  double unit;
  bool has_stops;

  /// Returns the first reading of each plateau and the first reading behind it.
  std::vector<std::pair<std::size_t, std::size_t>> run() const {
    constexpr std::size_t kShortest = 4;
    std::vector<std::pair<std::size_t, std::size_t>> plateaus;
    for (std::size_t first = 0; first < series.size(); ++first) {
      if (!is_at_end(first)) continue;
      std::size_t behind = first;
      while (behind < series.size() && is_at_end(behind)) ++behind;
      if (behind - first >= kShortest && is_clipped(first, behind)) {
        plateaus.emplace_back(first, behind);
      }
      first = behind;
    }
    return plateaus;
  }

  bool is_at_end(std::size_t k) const {
    return std::abs(series.values[k] - end) <= kRest * unit + kAtEnd * scale.quantum();
  }

  bool is_clipped(std::size_t first, std::size_t behind) const {
    const bool is_whole = first > 0 && behind < series.size();
    if (!is_whole && (has_stops || behind - first == series.size())) return false;
    if (first == 0) return comes_from_beyond(behind - first, behind);
    if (behind == series.size()) return comes_from_beyond(behind - first, first);
    return is_passed(first, behind);
  }

  /// Returns whether the motion next to a plateau at the beginning or end of the series follows a
  /// parabola that extends far beyond the plateau's value. If a joint is only released or comes to
  /// rest at the plateau, the parabola has its vertex there.
  /// @param edge  the first reading after the plateau, or the plateau's first
  bool comes_from_beyond(std::size_t plateau, std::size_t edge) const {
    constexpr double kMoved = 0.1;   // of the fitted motion; bent parabolas overshoot by less
    constexpr double kUnlike = 4.0;  // times the noise variance; more: not a parabola
    const bool begins = edge == plateau;
    for (std::size_t window = kSide; window <= kWindowMost && window <= 4 * plateau; window *= 2) {
      const std::size_t from = begins ? edge : edge - window;
      if (edge < window && !begins) break;
      if (from + window > series.size() || !series.is_dense(from, window)) break;
      const EdgeFit fit(series, from, window, 2);
      const double least = least_at(edge);
      if (fit.residual_variance() > kUnlike * least * least) break;
      const double on = 0.25 * static_cast<double>(window) * series.period;
      const PolynomialPrediction reach =
          fit.at(begins ? series.times[edge] - on : series.times[edge - 1] + on);
      const double beyond = side * (reach.value - end);
      const double moved = std::abs(series.values[begins ? from + window - 1 : from] - end);
      if (beyond > std::max(kFar * least * std::max(1.0, reach.noise_gain), kMoved * moved)) {
        return true;
      }
    }
    return false;
  }

  /// Returns the resolution of a reading, given by noise, quantization and rounding.
  double least_at(std::size_t position) const {
    return std::max(scale.noise(position), scale.quantum()) + kRest * unit;
  }

  /// Returns whether the motion enters and leaves a plateau fast enough to have passed far beyond
  /// it. On a parabola of speed v at the plateau's ends, the overshoot in the plateau's time T is v
  /// T/4.
  bool is_passed(std::size_t first, std::size_t behind) const {
    if (first < kSide || behind + kSide > series.size()) return false;
    if (!series.is_dense(first - kSide, behind - first + 2 * kSide)) return false;
    const EdgeFit before(series, first - kSide, kSide, 2), after(series, behind, kSide, 2);
    const double in = side * before.slope(series.times[first]);
    const double out = -side * after.slope(series.times[behind - 1]);
    const double time = series.times[behind - 1] - series.times[first];
    const double overshoot = 0.25 * std::min(in, out) * time;
    // A motion that stops within a period may be an impact. After an impact and a rest, however, a
    // joint does not leave as fast as it came.
    return overshoot > kFar * least_at(first) && std::min(in, out) > 0.25 * std::max(in, out);
  }

  static constexpr std::size_t kSide = 8;         // readings examined on each side of a plateau
  static constexpr std::size_t kWindowMost = 64;  // where only one side is observed
  static constexpr double kFar = 6.0;             // noise standard deviations, or counts
};

}  // namespace

void find_plateaus(const Mechanism& mechanism, const std::vector<double>& quanta,
                   const Recording& recording, int index, SignalExamination& out) {
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (int i = 0; i < std::ssize(sensors); ++i) {
    const Encoder& sensor = sensors[static_cast<std::size_t>(i)];
    ValueRange range;
    range.add(recording.segments, i);
    if (!(range.width() > kRest * sensor.units().scale)) continue;
    for (const double side : {1.0, -1.0}) {
      const double end = side > 0.0 ? range.high : range.low;
      std::vector<TimeStretch> stretches;
      int plateaus = 0, readings = 0;
      for (int s = 0; s < std::ssize(recording.segments); ++s) {
        const Segment& segment = recording.segments[static_cast<std::size_t>(s)];
        // Not unwrapped: readings are clipped before turns are counted.
        const ReadingSeries series = observed_readings(segment, segment.angles.col(i), false);
        const NoiseScale scale(series, quanta[static_cast<std::size_t>(i)]);
        const PlateauSearch search{
            series, scale, end, side, sensor.units().scale, has_stops(mechanism, sensor)};
        for (const auto& [first, behind] : search.run()) {
          ++plateaus;
          add_stretch(
              {segment.start + series.times[first], segment.start + series.times[behind - 1]},
              stretches);
        }
      }
      if (plateaus == 0) continue;
      // Single readings at that end are unreliable too.
      const double slack =
          kRest * sensor.units().scale + kAtEnd * quanta[static_cast<std::size_t>(i)];
      const std::vector<RejectedReading> outliers = out.rejected;
      for (int s = 0; s < std::ssize(recording.segments); ++s) {
        const auto column = recording.segments[static_cast<std::size_t>(s)].angles.col(i);
        for (int k = 0; k < column.size(); ++k) {
          if (!(std::abs(column[k] - end) <= slack)) continue;
          ++readings;
          const bool is_held = std::ranges::any_of(outliers, [&](const RejectedReading& rejected) {
            return rejected.row == k && rejected.sensor == i && rejected.segment == s &&
                   rejected.recording == index;
          });
          if (!is_held) out.rejected.push_back({index, s, i, k});
        }
      }
      const Quantity limit{end, sensor.units().coordinate};
      Finding finding = make_finding({MessageCode::kClippedReadings,
                                      {{"encoder", sensor.name},
                                       {"is_largest", side > 0.0},
                                       {"limit", limit},
                                       {"plateaus", plateaus},
                                       {"first", stretches.front().from},
                                       {"readings", readings}}},
                                     recording.name, sensor.name, limit);
      set_stretches(std::move(stretches), finding);
      finding.treated = true;
      out.findings.push_back(std::move(finding));
    }
  }
}

void find_dead_channels(const Mechanism& mechanism, const Recording& recording,
                        SignalExamination& out) {
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  bool commanded = false;
  const auto motors = static_cast<int>(std::ranges::count_if(mechanism.joints, &Joint::motorised));
  for (int m = 0; m < motors; ++m) commanded |= command_range(recording, m).width() > 0.0;
  std::vector<ValueRange> ranges(sensors.size());
  for (int i = 0; i < std::ssize(sensors); ++i) {
    ranges[static_cast<std::size_t>(i)].add(recording.segments, i);
  }
  const auto moves = [&](std::size_t i) {
    return ranges[i].width() > kRest * sensors[i].units().scale;
  };
  std::vector<NonEquilibriumJoint> unable;
  if (std::ranges::none_of(std::views::iota(0U, sensors.size()), moves) && !commanded) {
    unable = find_non_equilibrium_joints(mechanism, recording);
  }
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    if (moves(i)) continue;
    std::string other;
    for (std::size_t j = 0; j < sensors.size(); ++j) {
      if (moves(j)) other = sensors[j].name;
    }
    const bool empty = ranges[i].is_empty();
    const bool is_still = !empty && other.empty() && !commanded;
    const auto restless =
        std::ranges::find(unable, static_cast<int>(i), &NonEquilibriumJoint::sensor);
    if (is_still && restless == unable.end()) continue;  // it may rest
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

void find_copies(const Mechanism& mechanism, const Recording& recording, SignalExamination& out) {
  constexpr int kChangesMin = 20;
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  /// Same joint, or two joints of which one mimics the other with ratio ±1.
  const auto is_alike = [&](int a, int b) {
    const auto follows = [&](int one, int other) {
      const MimicJoint* const coupling = find_mimic_joint(mechanism, one);
      return coupling != nullptr && coupling->follows == other && std::abs(coupling->ratio) == 1.0;
    };
    return a == b || follows(a, b) || follows(b, a);
  };
  const auto reads_the_same = [&](const Encoder& a, const Encoder& b) {
    return a.terms.size() == b.terms.size() &&
           std::ranges::all_of(a.terms, [&](const Encoder::Term& term) {
             return std::ranges::any_of(b.terms, [&](const Encoder::Term& other) {
               return is_alike(term.joint, other.joint);
             });
           });
  };
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    for (std::size_t j = i + 1; j < sensors.size(); ++j) {
      if (sensors[i].kind != sensors[j].kind || reads_the_same(sensors[i], sensors[j])) continue;
      for (const double sign : {1.0, -1.0}) {
        // Column offsets may differ, so compare changes.
        int changes = 0;
        bool same = true;
        for (const Segment& segment : recording.segments) {
          const auto a = segment.angles.col(static_cast<Eigen::Index>(i));
          const auto b = segment.angles.col(static_cast<Eigen::Index>(j));
          for (Eigen::Index k = 1; k < a.size() && same; ++k) {
            const double change = a[k] - a[k - 1], other = sign * (b[k] - b[k - 1]);
            if (std::isnan(change) || std::isnan(other)) continue;
            same = std::abs(change - other) <= kRest * sensors[i].units().scale;
            changes += change != 0.0 ? 1 : 0;
          }
        }
        if (!same || changes < kChangesMin) continue;
        const MessageCode code = is_tree(mechanism) ? MessageCode::kIdenticalChannels
                                                    : MessageCode::kIdenticalLoopChannels;
        out.findings.push_back(make_finding({code,
                                             {{"first", sensors[i].name},
                                              {"second", sensors[j].name},
                                              {"are_opposite", sign < 0.0}}},
                                            recording.name, sensors[j].name));
      }
    }
  }
}

void find_constant_commands(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                            SignalExamination& out) {
  int motor = 0;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    if (!joint.motorised) continue;
    const bool driven = std::ranges::any_of(recordings, [&](const Recording& recording) {
      return command_range(recording, motor).width() > 0.0;
    });
    const bool lacks = !driven && mechanism.joint_parameter(j, JointQuantity::kMotorGain).free;
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

void compare_quanta(const std::vector<Encoder>& sensors, const std::vector<double>& seen,
                    const std::vector<double>& stated, SignalExamination& out) {
  constexpr double kTolerance = 0.02;
  for (std::size_t i = 0; i < std::min(sensors.size(), stated.size()); ++i) {
    if (!(stated[i] > 0.0) || !(seen[i] > 0.0)) continue;
    const double ratio = seen[i] / stated[i];
    if (std::abs(ratio - 1.0) < kTolerance) continue;
    const Encoder& sensor = sensors[i];
    const JointTraits& joint = sensor.traits();
    const Quantity quantum{seen[i], sensor.units().coordinate};
    out.findings.push_back(make_finding({MessageCode::kWrongQuantum,
                                         {{"encoder", sensor.name},
                                          {"quantum", quantum},
                                          {"counts", joint.count_size / seen[i]},
                                          {"length", std::string(joint.count)},
                                          {"described_counts", joint.count_size / stated[i]}}},
                                        "", sensor.name, quantum));
  }
}

}  // namespace estimator
