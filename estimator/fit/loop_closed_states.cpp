#include "estimator/fit/loop_closed_states.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "estimator/fit/number_text.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "estimator/signal/low_pass.hpp"

namespace estimator {

Segment remove_encoder_slips(const Mechanism& mechanism, Segment segment) {
  for (const EncoderShift& shift : segment.shifts) {
    segment.angles.col(shift.sensor).tail(segment.sample_count() - shift.sample).array() -=
        mechanism.parameters[shift.parameter].value;
  }
  segment.shifts.clear();
  return segment;
}

namespace {

/// Interpolates observed values at ascending positions linearly on the grid 0, spacing, 2 spacing,
/// …. The result is constant before the first and after the last observed value.
Eigen::VectorXd interpolate(const std::vector<double>& positions, const std::vector<double>& values,
                            double spacing, Eigen::Index count) {
  Eigen::VectorXd result = Eigen::VectorXd::Zero(count);
  if (positions.empty()) return result;
  std::size_t next = 0;
  for (Eigen::Index k = 0; k < count; ++k) {
    const double t = static_cast<double>(k) * spacing;
    while (next < positions.size() && positions[next] < t) ++next;
    if (next == 0 || next == positions.size()) {
      result[k] = next == 0 ? values.front() : values.back();
      continue;
    }
    const double share = (t - positions[next - 1]) / (positions[next] - positions[next - 1]);
    result[k] = (1.0 - share) * values[next - 1] + share * values[next];
  }
  return result;
}

/// Returns the number of samples that a segment would have without gaps.
Eigen::Index steady_count(const Segment& segment) {
  return std::lround(segment.duration() / segment.period) + 1;
}

/// Returns encoder readings at every sampling period, unwrapped and without offset steps. Gaps are
/// interpolated linearly, which suffices for initial values.
Eigen::MatrixXd steady_readings(const Mechanism& mechanism, const Segment& segment) {
  Eigen::MatrixXd samples = remove_encoder_slips(mechanism, segment).angles;
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  bool is_any_late = false;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    if (sensors[i].kind_traits().wraps) samples.col(i) = unwrap(samples.col(i));
    is_any_late |= mechanism.at(sensors[i].delay).value != 0.0;
  }
  if (segment.times.empty() && !samples.hasNaN() && !is_any_late) return samples;
  Eigen::MatrixXd steady(steady_count(segment), samples.cols());
  for (Eigen::Index sensor = 0; sensor < samples.cols(); ++sensor) {
    std::vector<double> positions, values;
    const double delay = mechanism.at(sensors[sensor].delay).value;
    for (Eigen::Index k = 0; k < samples.rows(); ++k) {
      if (std::isnan(samples(k, sensor))) continue;
      positions.push_back((segment.time(k) - delay) / segment.period);
      values.push_back(samples(k, sensor));
    }
    steady.col(sensor) = interpolate(positions, values, 1.0, steady.rows());
  }
  return steady;
}

/// Returns encoder readings at the time steps: nodes × sensors.
Eigen::MatrixXd start_readings(const Mechanism& mechanism, const Segment& segment, double step,
                               Eigen::Index nodes, const InitialStateFilter& filter) {
  const Eigen::MatrixXd raw = steady_readings(mechanism, segment);
  const Eigen::MatrixXd samples =
      filter.to_noise ? apply_noise_matched_low_pass(raw, filter.cutoff, segment.period)
                      : apply_low_pass(raw, filter.cutoff, segment.period);
  std::vector<double> positions(static_cast<std::size_t>(samples.rows()));
  std::iota(positions.begin(), positions.end(), 0.0);
  Eigen::MatrixXd readings(nodes, samples.cols());
  for (Eigen::Index sensor = 0; sensor < samples.cols(); ++sensor) {
    const auto column = samples.col(sensor);
    readings.col(sensor) =
        interpolate(positions, {column.begin(), column.end()}, step / segment.period, nodes);
  }
  return readings;
}

constexpr int kConfigurationsMax = 256;   // largest number for choosing coordinates
constexpr double kFollowedCutoff = 10.0;  // of the low-pass filter before closing loops [Hz]
constexpr double kTrendTime = 0.02;       // for the rates of joints at a singular configuration [s]
constexpr double kToldTwist = 0.1;        // smallest rotation to report besides a distance [rad]
constexpr double kToldAgain = 0.02;       // least time beside a singular configuration [s]
constexpr double kNotWanted = std::numeric_limits<double>::quiet_NaN();

double difference(const Mechanism& mechanism, Eigen::Index joint, double of_coordinates) {
  return mechanism.joints[joint].coordinate_difference(of_coordinates);
}

/// Returns the `assembly_guess` of every joint; NaN if the rig file has none.
Eigen::VectorXd stated_assembly(const Mechanism& mechanism) {
  Eigen::VectorXd stated(mechanism.joint_count());
  for (Eigen::Index j = 0; j < stated.size(); ++j) {
    stated[j] = mechanism.joints[j].assembly_guess;
  }
  return stated;
}

/// Returns the sum of squared deviations of an assembly from the given joint coordinates.
double distance(const Mechanism& mechanism, const Eigen::VectorXd& stated,
                const Eigen::VectorXd& angles) {
  double sum = 0.0;
  for (Eigen::Index j = 0; j < angles.size(); ++j) {
    if (std::isnan(stated[j])) continue;
    sum += std::pow(difference(mechanism, j, angles[j] - stated[j]), 2);
  }
  return sum;
}

[[noreturn]] void require_unambiguous_assembly(const Mechanism& mechanism,
                                               const Eigen::VectorXd& measured,
                                               const std::vector<AssemblyMode>& found,
                                               const std::string& where) {
  Eigen::Index joint = 0;
  double spread = -1.0;
  for (Eigen::Index j = 0; j < measured.size(); ++j) {
    const double apart =
        std::abs(difference(mechanism, j, found[0].angles[j] - found[1].angles[j]));
    if (std::isnan(measured[j]) && apart > spread) {
      spread = apart;
      joint = j;
    }
  }
  throw std::invalid_argument(
      where + ": the loops can be closed in several ways, " + std::to_string(found.size()) +
      ", and the readings do not determine which. Measure another joint, "
      "or give an approximate initial position (assembly_guess) of joint " +
      quoted(mechanism.joints[joint].name) + ", for example " +
      number_text(found[0].angles[joint], 3) + " or " + number_text(found[1].angles[joint], 3) +
      " " + mechanism.joints[joint].units().coordinate);
}

Eigen::VectorXd assemble_start(const Mechanism& mechanism, LoopClosure& closure,
                               const Eigen::VectorXd& measured, const Eigen::VectorXd& stated,
                               const std::string& where) {
  Eigen::VectorXd nearest = Eigen::VectorXd::Zero(measured.size());
  const std::vector<AssemblyMode> found =
      find_assembly_modes(mechanism, closure, measured, nearest);
  if (found.empty()) {
    throw std::invalid_argument(where + ": at the first readings, " +
                                describe_open_loop(closure.widest_loop_gap(nearest)) +
                                "; check joint points, signs and encoder zeros");
  }
  if (found.size() == 1) return found.front().angles;
  if (stated.array().isNaN().all()) require_unambiguous_assembly(mechanism, measured, found, where);
  return std::ranges::min_element(
             found, {},
             [&](const AssemblyMode& each) { return distance(mechanism, stated, each.angles); })
      ->angles;
}

/// Shifts readings of mimic joints by full turns, as encoders may start at any revolution.
void count_whole_turns(const Mechanism& mechanism, const EncoderToJointMap& readings,
                       Eigen::MatrixXd& states) {
  for (std::size_t round = 0; round < mechanism.mimic_joints.size();
       ++round) {  // mimic joints may be chained
    for (const MimicJoint& each : mechanism.mimic_joints) {
      if (!readings.is_observed(each.joint) || !readings.is_observed(each.follows)) continue;
      const double off = each.ratio * states(each.follows, 0) + each.offset - states(each.joint, 0);
      states.row(each.joint).array() += off - difference(mechanism, each.joint, off);
    }
  }
}

}  // namespace

Eigen::MatrixXd compute_initial_coordinates(const Mechanism& mechanism, const Segment& segment,
                                            double step, Eigen::Index nodes,
                                            const InitialStateFilter& filter) {
  Eigen::MatrixXd readings = start_readings(mechanism, segment, step, nodes, filter);
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    readings.col(i).array() += mechanism.parameters[sensors[i].offset].value;
  }
  const EncoderToJointMap joints(mechanism);
  const Eigen::VectorXd turns = joints.full_turn_corrections(readings.row(0).transpose());
  Eigen::MatrixXd coordinates(nodes, mechanism.joint_count());
  for (Eigen::Index node = 0; node < nodes; ++node) {
    coordinates.row(node) =
        joints.joint_coordinates(readings.row(node).transpose() + turns).transpose();
  }
  return coordinates;
}

Eigen::MatrixXd compute_initial_joint_states(const Mechanism& mechanism, const Segment& segment,
                                             double cutoff) {
  const Eigen::Index n = mechanism.joint_count(), samples = steady_count(segment);
  const Eigen::MatrixXd start =
      compute_initial_coordinates(mechanism, segment, segment.period, samples, {cutoff, true});
  Eigen::MatrixXd states(2 * n, samples);
  states.topRows(n) = start.transpose();
  for (Eigen::Index k = 0; k < samples; ++k) {
    const Eigen::Index before = std::max<Eigen::Index>(k - 1, 0);
    const Eigen::Index after = std::min(k + 1, samples - 1);
    const double apart = static_cast<double>(std::max<Eigen::Index>(after - before, 1));
    states.col(k).tail(n) =
        (start.row(after) - start.row(before)).transpose() / (apart * segment.period);
  }
  return states;
}

std::string describe_open_loop(const LoopGap& gap) {
  std::string text = "joint " + quoted(gap.joint) + " leaves its loop ";
  const bool twisted = gap.turn > (gap.distance > kClosed ? kToldTwist : kClosed);
  if (gap.distance > kClosed) {
    text += "open by " + number_text(1e3 * gap.distance) + " mm";
  } else if (!twisted) {
    text += "closed half a turn off";
  }
  if (twisted) {
    text += (gap.distance > kClosed ? " and twisted by " : "twisted by ") + number_text(gap.turn) +
            " rad";
  }
  return text;
}

std::vector<SingularConfiguration> close_loops(const Mechanism& mechanism, double period,
                                               const std::string& where,
                                               const LoopClosureData& facts,
                                               Eigen::MatrixXd& states) {
  std::vector<SingularConfiguration> poses;
  LoopClosure closure(mechanism);
  if (!closure.has_loops()) return poses;
  const EncoderToJointMap readings(mechanism);
  const Eigen::Index n = mechanism.joint_count(), samples = states.cols();
  count_whole_turns(mechanism, readings, states);
  const auto measured_at = [&](Eigen::Index k) {
    Eigen::VectorXd measured = states.col(k).head(n);
    for (Eigen::Index j = 0; j < n; ++j) {
      if (!readings.is_observed(static_cast<int>(j))) measured[j] = kNotWanted;
    }
    return measured;
  };
  Eigen::VectorXd angles = assemble_start(
      mechanism, closure, measured_at(0),
      facts.assembled.size() > 0 ? facts.assembled : stated_assembly(mechanism), where);
  Eigen::MatrixXd closed(n, samples);
  const auto trend = std::max<Eigen::Index>(1, std::lround(kTrendTime / period));
  const auto margin = std::max<Eigen::Index>(1, std::lround(kToldAgain / period));
  Eigen::Index first = -1, last = -1;  // samples near a singular configuration, not yet decided
  for (Eigen::Index k = 0; k < samples; ++k) {
    // Near a singular configuration the readings do not determine the branch. The motion is
    // extrapolated, and select_branch decides later, with samples on both sides.
    const Eigen::Index back = std::min(k - 1, trend);
    if (back > 0 && is_nearly_singular(mechanism, closure.closure_jacobian(angles))) {
      angles += (closed.col(k - 1) - closed.col(k - 1 - back)) / static_cast<double>(back);
      if (first < 0) first = k;
      last = k;
    }
    if (!closure.close(angles, measured_at(k))) {
      throw std::invalid_argument(where + ": " + number_text(static_cast<double>(k) * period) +
                                  " s after the start of a segment, " +
                                  describe_open_loop(closure.widest_loop_gap(angles)) +
                                  "; check joint points, signs and encoder zeros");
    }
    closed.col(k) = angles;
    const Eigen::Index beside = std::max(margin, (last - first) / 2);
    if (first < 0 || k < last + beside) continue;
    const Eigen::Index from = std::max<Eigen::Index>(first - beside, 0), count = k + 1 - from;
    Eigen::MatrixXd motion = closed.middleCols(from, count);
    poses.push_back(select_branch(mechanism, closure, facts.read.block(0, from, n, count), motion));
    poses.back().sample += from;
    closed.middleCols(from, count) = motion;
    angles = closed.col(k);
    first = -1;
  }
  states.topRows(n) = closed;
  for (Eigen::Index k = 0; k < samples; ++k) {
    const Eigen::Index before = std::max<Eigen::Index>(k - 1, 0);
    const Eigen::Index after = std::min(k + 1, samples - 1);
    if (after == before) continue;
    states.col(k).tail(n) =
        (closed.col(after) - closed.col(before)) / (static_cast<double>(after - before) * period);
  }
  return poses;
}

std::vector<SingularConfiguration> close_loops(const Mechanism& mechanism, double period,
                                               const std::string& where, Eigen::MatrixXd& states) {
  return close_loops(mechanism, period, where, LoopClosureData{.read = states}, states);
}

std::vector<Eigen::VectorXd> assemble_loops_at_samples(const Mechanism& mechanism,
                                                       const Segment& segment,
                                                       const std::vector<Eigen::Index>& rows) {
  std::vector<Eigen::VectorXd> assemblies(rows.size());
  if (!has_closed_loops(mechanism) || rows.empty()) return assemblies;
  const double unfiltered = std::numeric_limits<double>::infinity();
  Eigen::MatrixXd states = compute_initial_joint_states(mechanism, segment, kFollowedCutoff);
  try {
    close_loops(mechanism, segment.period, "",
                {compute_initial_joint_states(mechanism, segment, unfiltered), segment.assembled},
                states);
  } catch (const std::invalid_argument&) {
    return assemblies;  // the joint coordinates are unknown if loops do not close
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto column = std::lround(segment.time(rows[i]) / segment.period);
    assemblies[i] = states.col(column).head(mechanism.joint_count());
  }
  return assemblies;
}

CoordinateChoice choose_independent_joints(const Mechanism& mechanism,
                                           const std::vector<Eigen::MatrixXd>& states) {
  LoopClosure closure(mechanism);
  if (!closure.has_loops()) return choose_all_coordinates(mechanism);
  const Eigen::Index n = mechanism.joint_count();
  Eigen::Index columns = 0;
  for (const Eigen::MatrixXd& each : states) columns += each.cols();
  const Eigen::Index stride = std::max<Eigen::Index>(1, columns / kConfigurationsMax);
  std::vector<Eigen::MatrixXd> motions;
  for (const Eigen::MatrixXd& each : states) {
    Eigen::MatrixXd& motion = motions.emplace_back(n, (each.cols() + stride - 1) / stride);
    for (Eigen::Index k = 0; k < motion.cols(); ++k) motion.col(k) = each.col(k * stride).head(n);
  }
  try {
    return closure.choose_coordinates(motions);
  } catch (ChangePointError& point) {
    point.configuration *= stride;
    throw;
  }
}

}  // namespace estimator
