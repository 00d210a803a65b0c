#include "estimator/calibrate/initial_states.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/calibrate/parameter_book.hpp"
#include "estimator/model/kinematics.hpp"
#include "estimator/signal/butterworth.hpp"
#include "estimator/signal/filtfilt.hpp"
#include "estimator/signal/resample.hpp"
#include "estimator/signal/unwrap.hpp"

namespace estimator {
namespace {

constexpr int kFilterOrder = 2;
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

/// Start angles of the measured hinges at the nodes: nodes × sensors.
Eigen::MatrixXd start_angles(const Mechanism& mechanism, const Segment& segment, double step,
                             Eigen::Index nodes, double cutoff) {
  Eigen::MatrixXd samples = unwrap_columns(segment.angles);
  const std::vector<JointKind> kinds = sensor_kinds(mechanism);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto sensor = static_cast<Eigen::Index>(i);
    if (kinds[i] == JointKind::kPrismatic) samples.col(sensor) = segment.angles.col(sensor);
  }
  if (cutoff < kNyquistShare * 0.5 / segment.period) {
    samples = filtfilt_columns(butterworth_low_pass(kFilterOrder, cutoff, segment.period), samples);
  }
  Eigen::MatrixXd angles(nodes, samples.cols());
  for (Eigen::Index sensor = 0; sensor < samples.cols(); ++sensor) {
    std::vector<int> observed;
    for (int k = 0; k < segment.sample_count(); ++k) {
      if (!std::isnan(samples(k, sensor))) observed.push_back(k);
    }
    const Eigen::VectorXd column = samples.col(sensor);
    std::size_t next = 0;
    for (Eigen::Index node = 0; node < nodes; ++node) {
      const double t = static_cast<double>(node) * step / segment.period;
      angles(node, sensor) = interpolate(observed, column, t, next);
    }
  }
  return angles;
}

}  // namespace

TrajectoryData make_trajectory_data(const Mechanism& mechanism, const Segment& segment, double step,
                                    double cutoff) {
  TrajectoryData data;
  data.start = segment.start;
  data.period = segment.period;
  data.controls = segment.controls;
  data.angles = resample(segment, step).angles;
  const Eigen::MatrixXd start = start_angles(mechanism, segment, step, data.angles.rows(), cutoff);
  const ModelValues values = unpack(mechanism);
  Eigen::VectorXd angles = Eigen::VectorXd::Zero(mechanism.hinge_count());
  data.initial.reserve(static_cast<std::size_t>(start.rows()));
  for (Eigen::Index node = 0; node < start.rows(); ++node) {
    Eigen::Index sensor = 0;
    for (int j = 0; j < mechanism.hinge_count(); ++j) {
      if (!mechanism.hinges[static_cast<std::size_t>(j)].measured) continue;
      angles[j] = start(node, sensor++) + values.hinges[static_cast<std::size_t>(j)].encoder_offset;
    }
    data.initial.push_back(assemble(mechanism, values, angles));
  }
  return data;
}

Eigen::MatrixXd make_joint_states(const Mechanism& mechanism, const Segment& segment,
                                  double cutoff) {
  const Eigen::Index n = mechanism.hinge_count(), samples = segment.sample_count();
  const Eigen::MatrixXd start = start_angles(mechanism, segment, segment.period, samples, cutoff);
  Eigen::MatrixXd states = Eigen::MatrixXd::Zero(2 * n, samples);
  Eigen::Index sensor = 0;
  for (int j = 0; j < n; ++j) {
    if (!mechanism.hinges[static_cast<std::size_t>(j)].measured) continue;
    const auto column = start.col(sensor++);
    const double offset = mechanism.hinge_parameter(j, HingeQuantity::kEncoderOffset).value;
    for (Eigen::Index k = 0; k < samples; ++k) {
      const Eigen::Index before = std::max<Eigen::Index>(k - 1, 0);
      const Eigen::Index after = std::min(k + 1, samples - 1);
      states(j, k) = column[k] + offset;
      if (after > before) {
        states(n + j, k) = (column[after] - column[before]) /
                           (static_cast<double>(after - before) * segment.period);
      }
    }
  }
  return states;
}

}  // namespace estimator
