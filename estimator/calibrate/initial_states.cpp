#include "estimator/calibrate/initial_states.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/calibrate/closed_states.hpp"
#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/kinematics.hpp"
#include "estimator/model/sensor.hpp"
#include "estimator/signal/butterworth.hpp"
#include "estimator/signal/filtfilt.hpp"
#include "estimator/signal/resample.hpp"
#include "estimator/signal/unwrap.hpp"

namespace estimator {
namespace {

constexpr int kFilterOrder = 2;
constexpr double kBridgedShare = 0.5;  // of a period of the cutoff: longer gaps split the filter
constexpr double kNyquistShare = 0.8;  // a cutoff above this share leaves nothing to filter

/// Linear interpolation of the observed samples at time t (in samples); constant beyond the ends.
/// `next` remembers the position, so ascending times cost O(1) each.
double interpolate(const std::vector<int>& observed, const Eigen::VectorXd& values, double t,
                   std::size_t& next) {
  if (observed.empty()) return 0.0;
  while (next < observed.size() && observed[next] < t) ++next;
  if (next == 0) return values[observed.front()];
  if (next == observed.size()) return values[observed.back()];
  const double from = observed[next - 1], to = observed[next];
  const double share = (t - from) / (to - from);
  return (1.0 - share) * values[observed[next - 1]] + share * values[observed[next]];
}

/// Joins observed samples by straight lines where at most `longest` are missing in between. A
/// filter ends where readings do, and speeds from its ends are mostly noise; what single readings
/// leave open is far shorter than what it passes.
void bridge_short_gaps(Eigen::Ref<Eigen::VectorXd> samples, Eigen::Index longest) {
  Eigen::Index last = -1;  // observed
  for (Eigen::Index k = 0; k < samples.size(); ++k) {
    if (std::isnan(samples[k])) continue;
    const Eigen::Index apart = k - last;
    if (last >= 0 && apart > 1 && apart <= longest + 1) {
      for (Eigen::Index i = 1; i < apart; ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(apart);
        samples[last + i] = (1.0 - share) * samples[last] + share * samples[k];
      }
    }
    last = k;
  }
}

/// Readings of the sensors at the nodes: nodes × sensors.
Eigen::MatrixXd start_readings(const Mechanism& mechanism, const Segment& segment, double step,
                               Eigen::Index nodes, double cutoff) {
  Eigen::MatrixXd samples = unwrap_columns(segment.angles);
  const std::vector<JointKind> kinds = sensor_kinds(mechanism);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto sensor = static_cast<Eigen::Index>(i);
    if (kinds[i] == JointKind::kPrismatic) samples.col(sensor) = segment.angles.col(sensor);
  }
  for (auto column : samples.colwise()) {
    bridge_short_gaps(column, static_cast<Eigen::Index>(kBridgedShare / (cutoff * segment.period)));
  }
  if (cutoff < kNyquistShare * 0.5 / segment.period) {
    samples = filtfilt_columns(butterworth_low_pass(kFilterOrder, cutoff, segment.period), samples);
  }
  Eigen::MatrixXd readings(nodes, samples.cols());
  for (Eigen::Index sensor = 0; sensor < samples.cols(); ++sensor) {
    std::vector<int> observed;
    for (int k = 0; k < segment.sample_count(); ++k) {
      if (!std::isnan(samples(k, sensor))) observed.push_back(k);
    }
    const Eigen::VectorXd column = samples.col(sensor);
    std::size_t next = 0;
    for (Eigen::Index node = 0; node < nodes; ++node) {
      const double t = static_cast<double>(node) * step / segment.period;
      readings(node, sensor) = interpolate(observed, column, t, next);
    }
  }
  return readings;
}

/// Coordinates of the joints at the nodes by the readings: nodes × joints.
Eigen::MatrixXd start_coordinates(const Mechanism& mechanism, const Segment& segment, double step,
                                  Eigen::Index nodes, double cutoff) {
  Eigen::MatrixXd readings = start_readings(mechanism, segment, step, nodes, cutoff);
  const std::vector<Sensor> sensors = sensors_of(mechanism);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    readings.col(static_cast<Eigen::Index>(i)).array() +=
        mechanism.parameters[static_cast<std::size_t>(sensors[i].offset)].value;
  }
  const JointReadings joints(mechanism);
  const Eigen::VectorXd turns = joints.whole_turns(readings.row(0).transpose());
  Eigen::MatrixXd coordinates(nodes, mechanism.hinge_count());
  for (Eigen::Index node = 0; node < nodes; ++node) {
    coordinates.row(node) = joints.coordinates(readings.row(node).transpose() + turns).transpose();
  }
  return coordinates;
}

}  // namespace

TrajectoryData make_trajectory_data(const Mechanism& mechanism, const Segment& segment, double step,
                                    double cutoff, const std::string& where) {
  TrajectoryData data;
  data.start = segment.start;
  data.period = segment.period;
  data.controls = segment.controls;
  data.angles = resample(segment, step).angles;
  const Eigen::MatrixXd start =
      start_coordinates(mechanism, segment, step, data.angles.rows(), cutoff);
  Eigen::MatrixXd states = Eigen::MatrixXd::Zero(2 * start.cols(), start.rows());
  states.topRows(start.cols()) = start.transpose();
  if (mechanism.hinge_count() <= kTreeHingesMax) close_loops(mechanism, step, where, states);
  const ModelValues values = unpack(mechanism);
  data.initial.reserve(static_cast<std::size_t>(start.rows()));
  for (const auto& state : states.colwise()) {
    data.initial.push_back(assemble(mechanism, values, state.head(start.cols())));
  }
  return data;
}

Eigen::MatrixXd make_joint_states(const Mechanism& mechanism, const Segment& segment,
                                  double cutoff) {
  const Eigen::Index n = mechanism.hinge_count(), samples = segment.sample_count();
  const Eigen::MatrixXd start =
      start_coordinates(mechanism, segment, segment.period, samples, cutoff);
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
