#include "estimator/fit/initial_states.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "estimator/model/encoder.hpp"
#include "estimator/signal/low_pass.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

Segment without_shifts(const Mechanism& mechanism, Segment segment) {
  for (const EncoderShift& shift : segment.shifts) {
    segment.angles.col(shift.sensor).tail(segment.sample_count() - shift.sample).array() -=
        mechanism.parameters[static_cast<std::size_t>(shift.parameter)].value;
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
  Eigen::MatrixXd samples = without_shifts(mechanism, segment).angles;
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  bool is_any_late = false;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    if (sensors[i].traits().wraps) samples.col(column) = unwrap(samples.col(column));
    is_any_late |= parameter_at(mechanism, sensors[i].delay).value != 0.0;
  }
  if (segment.times.empty() && !samples.hasNaN() && !is_any_late) return samples;
  Eigen::MatrixXd steady(steady_count(segment), samples.cols());
  for (Eigen::Index sensor = 0; sensor < samples.cols(); ++sensor) {
    std::vector<double> positions, values;
    const double delay =
        parameter_at(mechanism, sensors[static_cast<std::size_t>(sensor)].delay).value;
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
                               Eigen::Index nodes, const StartFilter& filter) {
  const Eigen::MatrixXd raw = steady_readings(mechanism, segment);
  const Eigen::MatrixXd samples =
      filter.to_noise ? low_pass_matched_to_noise(raw, filter.cutoff, segment.period)
                      : low_pass(raw, filter.cutoff, segment.period);
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

}  // namespace

Eigen::MatrixXd start_coordinates(const Mechanism& mechanism, const Segment& segment, double step,
                                  Eigen::Index nodes, const StartFilter& filter) {
  Eigen::MatrixXd readings = start_readings(mechanism, segment, step, nodes, filter);
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    readings.col(static_cast<Eigen::Index>(i)).array() +=
        mechanism.parameters[static_cast<std::size_t>(sensors[i].offset)].value;
  }
  const EncoderJoints joints(mechanism);
  const Eigen::VectorXd turns = joints.whole_turns(readings.row(0).transpose());
  Eigen::MatrixXd coordinates(nodes, mechanism.joint_count());
  for (Eigen::Index node = 0; node < nodes; ++node) {
    coordinates.row(node) = joints.coordinates(readings.row(node).transpose() + turns).transpose();
  }
  return coordinates;
}

Eigen::MatrixXd make_joint_states(const Mechanism& mechanism, const Segment& segment,
                                  double cutoff) {
  const Eigen::Index n = mechanism.joint_count(), samples = steady_count(segment);
  const Eigen::MatrixXd start =
      start_coordinates(mechanism, segment, segment.period, samples, {cutoff, true});
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

}  // namespace estimator
