#include "estimator/fit/physical/control_noise_effect.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/fit/physical/shooting/control_noise.hpp"
#include "estimator/model/encoder.hpp"

namespace estimator {
namespace {

constexpr int kNoisePoses = 20;  // at which the mass matrix is computed, per segment
constexpr double kControlNoiseSamplesMin = 2.0;  // with noisy controls
/// White acceleration of density S causes an error with the variance S T³/192 midway between two
/// nodes at a distance T.
constexpr double kNodeErrorRatio = 192.0;
/// Largest variance of this error, relative to that of the mean of the readings between two nodes.
/// The error is common to these readings, so with 100 % standard deviations are too small, and
/// parts of a recording disagree (Cochran's Q of 162 with 66 degrees of freedom; 65 with 10 %).
constexpr double kNodeErrorShare = 0.1;

}  // namespace

Eigen::VectorXd joint_angle_variances(const Mechanism& mechanism, const Eigen::VectorXd& noise) {
  const EncoderToJointMap map(mechanism);
  Eigen::VectorXd variances = Eigen::VectorXd::Zero(mechanism.joint_count());
  for (Eigen::Index i = 0; i < noise.size(); ++i) {
    const Eigen::VectorXd error = noise[i] * Eigen::VectorXd::Unit(noise.size(), i);
    variances += map.joint_coordinates(error).cwiseAbs2();
  }
  return variances;
}

void account_for_control_noise(const Mechanism& mechanism, ShootingInput& input) {
  if (input.noise.control.size() == 0) return;
  const Eigen::VectorXd readings = joint_angle_variances(mechanism, input.noise.angle);
  const double period =
      std::ranges::min_element(input.segments, {}, &Segment::period)->period;
  const int n = mechanism.joint_count();
  Eigen::VectorXd densities = Eigen::VectorXd::Zero(n);
  ControlNoiseModel noise(mechanism, input.noise.control, period);
  double poses = 0.0;
  for (const Eigen::MatrixXd& states : input.states) {
    const Eigen::Index stride = std::max<Eigen::Index>(1, states.cols() / kNoisePoses);
    for (Eigen::Index k = 0; k < states.cols(); k += stride) {
      densities += noise.density(states.col(k).head(n)).diagonal();
      poses += 1.0;
    }
  }
  densities /= poses;
  const bool only_prescribed = motor_control_noise(mechanism).size() == 0;
  input.least_acceleration =
      (only_prescribed ? kNegligiblePrescribedShare : kNegligibleControlShare) *
      densities.cwiseSqrt();
  const double least = kControlNoiseSamplesMin * period;
  for (int j = 0; j < n; ++j) {
    if (!(densities[j] > 0.0) || !(readings[j] > 0.0)) continue;
    const double longest =
        std::pow(kNodeErrorShare * kNodeErrorRatio * readings[j] * period / densities[j], 0.25);
    input.grid.interval = std::min(input.grid.interval, std::max(longest, least));
  }
}

}  // namespace estimator
