#include "estimator/fit/physical/inertial_noise.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/signal/noise_level.hpp"

namespace estimator {
namespace {

constexpr int kPoses = 20;  // number of configurations, over all segments

/// Returns the root mean square sensitivity of each sensor axis to the acceleration of each joint,
/// axes × joints.
Eigen::MatrixXd leverage(const Mechanism& mechanism, const std::vector<Eigen::MatrixXd>& states) {
  using Dynamics = TreeInverseDynamics<double>;
  Dynamics dynamics(mechanism, parameter_values(mechanism));
  const int n = mechanism.joint_count(), axes = Sensor::kAxes * mechanism.sensor_count();
  const auto readings = [&](const Eigen::VectorXd& angle, const Eigen::VectorXd& acceleration) {
    Dynamics::VectorX q = angle, a = acceleration, none = Dynamics::VectorX::Zero(n), torque;
    dynamics.torque_residual(q, none, a, none, torque);
    Eigen::VectorXd all(axes);
    for (int i = 0; i < mechanism.sensor_count(); ++i) {
      const auto own = dynamics.inertial_readings(i);
      for (int k = 0; k < Sensor::kAxes; ++k) {
        all[i * Sensor::kAxes + k] = own[static_cast<std::size_t>(k)];
      }
    }
    return all;
  };
  Eigen::MatrixXd squares = Eigen::MatrixXd::Zero(axes, n);
  double poses = 0.0;
  for (const Eigen::MatrixXd& each : states) {
    const Eigen::Index stride = std::max<Eigen::Index>(1, each.cols() / kPoses);
    for (Eigen::Index k = 0; k < each.cols(); k += stride) {
      const Eigen::VectorXd angle = each.col(k).head(n);
      const Eigen::VectorXd still = readings(angle, Eigen::VectorXd::Zero(n));
      for (int j = 0; j < n; ++j) {
        squares.col(j) += (readings(angle, Eigen::VectorXd::Unit(n, j)) - still).cwiseAbs2();
      }
      poses += 1.0;
    }
  }
  return (squares / poses).cwiseSqrt();
}

}  // namespace

void prepare_inertial(const Mechanism& mechanism, ShootingInput& input) {
  const std::vector<int> axes = sensed_axes(mechanism, input.segments);
  input.noise.inertial.setConstant(Sensor::kAxes * mechanism.sensor_count(), kInertialNoiseFloor);
  if (axes.empty()) return;
  const Eigen::MatrixXd arms = leverage(mechanism, input.states);
  double period = input.segments.front().period;
  for (const int axis : axes) {
    double& noise = input.noise.inertial[axis];
    for (const Segment& segment : input.segments) {
      if (axis < segment.inertial.cols()) {
        noise = std::max(noise, noise_level(segment.inertial.col(axis)));
      }
      period = std::min(period, segment.period);
    }
    double unexplained = 0.0;
    for (std::size_t p = 0; p < input.grid.coordinates.independent.size(); ++p) {
      const double density = input.noise.acceleration[static_cast<Eigen::Index>(p)];
      unexplained +=
          std::pow(arms(axis, input.grid.coordinates.independent[p]) * density, 2) / period;
    }
    noise = std::sqrt(noise * noise + unexplained);
  }
  input.grid.step = std::min(input.grid.step, period);
  input.grid.local_steps.clear();
}

}  // namespace estimator
