#include <algorithm>
#include <cassert>
#include <cmath>
#include <stdexcept>

#include "estimator/fit/loop_closed_states.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/signal/low_pass.hpp"
#include "tests/studies/leg/leg.hpp"
#include "tests/studies/leg/needed_controls.hpp"

namespace service {
namespace {

constexpr int kLowPassPoles = 4;
constexpr double kLowPassMargin = 0.25;  // [s]

/// Motion of all joints computed from encoder readings: joints × samples [rad, rad/s, rad/s²].
struct LegMotion {
  Eigen::MatrixXd angles, rates, accelerations;
};

/// Returns the angles of all joints from encoder readings, with loops closed: joints × samples
/// [rad].
Eigen::MatrixXd joint_angles(const estimator::Mechanism& model, const estimator::Segment& segment,
                             double cutoff) {
  const Eigen::MatrixXd smooth = estimator::filtfilt_columns(
      estimator::design_butterworth_low_pass(kLowPassPoles, cutoff, segment.period),
      segment.angles);
  const estimator::EncoderToJointMap readings(model);
  const std::vector<estimator::Encoder> sensors = estimator::used_encoders(model);
  Eigen::VectorXd offsets(static_cast<Eigen::Index>(sensors.size()));
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    offsets[static_cast<Eigen::Index>(i)] = model.at(sensors[i].offset).value;
  }
  Eigen::MatrixXd states = Eigen::MatrixXd::Zero(2 * model.joint_count(), smooth.rows());
  for (Eigen::Index k = 0; k < smooth.rows(); ++k) {
    states.col(k).head(model.joint_count()) =
        readings.joint_coordinates(smooth.row(k).transpose() + offsets);
  }
  estimator::close_loops(model, segment.period, "the measured motion", states);
  return states.topRows(model.joint_count());
}

/// Computes rates and accelerations by differences over five samples. The error is of fourth order
/// in the sampling period. Omits two samples at each end.
LegMotion differentiate(const Eigen::MatrixXd& angles, double period) {
  const Eigen::Index count = angles.cols() - 4;
  assert(count > 0);
  const auto at = [&](Eigen::Index shift) { return angles.middleCols(2 + shift, count); };
  LegMotion motion;
  motion.angles = at(0);
  motion.rates = (at(-2) - 8.0 * at(-1) + 8.0 * at(1) - at(2)) / (12.0 * period);
  motion.accelerations =
      (-at(-2) + 16.0 * at(-1) - 30.0 * at(0) + 16.0 * at(1) - at(2)) / (12.0 * period * period);
  return motion;
}

}  // namespace

Eigen::VectorXd LegTorques::errors() const {
  return (predicted - measured).cwiseAbs2().colwise().mean().cwiseSqrt().transpose();
}

LegTorques predict_torques(const estimator::Mechanism& model, const estimator::Segment& segment,
                           double cutoff, int crank, int knee) {
  const auto margin = static_cast<Eigen::Index>(std::ceil(kLowPassMargin / segment.period));
  const Eigen::Index first = std::max<Eigen::Index>(margin, 2);
  const Eigen::Index count = segment.sample_count() - 2 * first - 1;
  if (count < 1) throw std::invalid_argument("the recording is shorter than half a second");
  const LegMotion motion = differentiate(joint_angles(model, segment, cutoff), segment.period);

  ControlInverseDynamics needed(model);
  LegTorques torques;
  torques.period = segment.period;
  torques.start = segment.start + (static_cast<double>(first) + 0.5) * segment.period;
  torques.measured = segment.controls.middleRows(first, count);
  torques.predicted.resize(count, segment.controls.cols());
  if (knee >= 0) {
    torques.knee.resize(count);
    torques.transmission.resize(count);
  }
  Eigen::Index driven = 0;  // index of the crank's motor
  for (int j = 0; j < crank; ++j) {
    driven += model.joints[static_cast<std::size_t>(j)].motor.present ? 1 : 0;
  }
  const auto controls_at = [&](Eigen::Index sample) {
    const Eigen::Index k = sample - 2;
    return needed.at(motion.angles.col(k), motion.rates.col(k), motion.accelerations.col(k));
  };
  Eigen::VectorXd before = controls_at(first);
  for (Eigen::Index k = 0; k < count; ++k) {
    const Eigen::VectorXd after = controls_at(first + k + 1);
    torques.predicted.row(k) = 0.5 * (before + after).transpose();
    before = after;
    if (knee < 0) continue;
    const Eigen::VectorXd angles = motion.angles.col(first + k - 2);
    torques.knee[k] = angles[knee];
    torques.transmission[k] = needed.joint_rate_map(angles)(knee, driven);
  }
  return torques;
}

}  // namespace service
