#include "estimator/fit/physical/shooting/control_noise.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"

namespace estimator {

Eigen::VectorXd motor_control_noise(const Mechanism& mechanism) {
  std::vector<double> noise;
  for (const Joint& joint : mechanism.joints) {
    if (joint.motor.present) noise.push_back(joint.motor.control_noise);
  }
  if (std::ranges::all_of(noise, [](double each) { return each == 0.0; })) return {};
  return Eigen::Map<const Eigen::VectorXd>(noise.data(), std::ssize(noise));
}

Eigen::MatrixXd compute_control_noise_density(const Mechanism& mechanism,
                                              const Eigen::VectorXd& control, double period,
                                              const Eigen::VectorXd& angles) {
  TreeInverseDynamics<double> dynamics(mechanism, parameter_values(mechanism));
  const std::vector<int> motors = joints_with_motor(mechanism);
  Eigen::MatrixXd torques = Eigen::MatrixXd::Zero(mechanism.joint_count(), control.size());
  for (Eigen::Index m = 0; m < control.size(); ++m) {
    const int joint = motors[static_cast<std::size_t>(m)];
    torques(joint, m) =
        mechanism.joint_parameter(joint, JointParameter::kMotorGain).value * control[m];
  }
  const Eigen::MatrixXd moved = mass_matrix(dynamics, angles).llt().solve(torques);
  return period * moved * moved.transpose();
}

Eigen::MatrixXd compute_acceleration_whitening(const Mechanism& mechanism,
                                               const Eigen::VectorXd& acceleration,
                                               const Eigen::VectorXd& control, double period,
                                               const Eigen::VectorXd& angles) {
  const Eigen::Index n = mechanism.joint_count();
  Eigen::MatrixXd S = compute_control_noise_density(mechanism, control, period, angles);
  S.diagonal() += acceleration.cwiseAbs2();
  return S.llt().matrixL().solve(Eigen::MatrixXd::Identity(n, n));
}

}  // namespace estimator
