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

Eigen::MatrixXd compute_acceleration_whitening(const Mechanism& mechanism,
                                               const Eigen::VectorXd& acceleration,
                                               const Eigen::VectorXd& control, double period,
                                               const Eigen::VectorXd& angles) {
  TreeInverseDynamics<double> dynamics(mechanism, parameter_values(mechanism));
  const Eigen::Index n = mechanism.joint_count();
  Eigen::MatrixXd torques = Eigen::MatrixXd::Zero(n, control.size());
  Eigen::Index motor = 0;
  for (int j = 0; j < n; ++j) {
    if (!mechanism.joints[j].motor.present) continue;
    torques(j, motor) =
        mechanism.joint_parameter(j, JointParameter::kMotorGain).value * control[motor];
    ++motor;
  }
  const Eigen::MatrixXd moved = mass_matrix(dynamics, angles).llt().solve(torques);
  Eigen::MatrixXd S = period * moved * moved.transpose();
  S.diagonal() += acceleration.cwiseAbs2();
  return S.llt().matrixL().solve(Eigen::MatrixXd::Identity(n, n));
}

}  // namespace estimator
