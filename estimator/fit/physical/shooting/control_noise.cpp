#include "estimator/fit/physical/shooting/control_noise.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <vector>

#include "estimator/model/spanning_tree.hpp"

namespace estimator {

Eigen::VectorXd motor_control_noise(const Mechanism& mechanism) {
  std::vector<double> noise;
  for (const Joint& joint : mechanism.joints) {
    if (joint.motor.present) noise.push_back(joint.motor.control_noise);
  }
  if (std::ranges::all_of(noise, [](double each) { return each == 0.0; })) return {};
  return Eigen::Map<const Eigen::VectorXd>(noise.data(), std::ssize(noise));
}

Eigen::VectorXd control_noise_levels(const Mechanism& mechanism,
                                     const std::vector<Segment>& segments) {
  Eigen::VectorXd noise = motor_control_noise(mechanism);
  if (!is_tree_mechanism(mechanism)) return noise;
  Eigen::VectorXd squares = Eigen::VectorXd::Zero(std::ssize(joints_with_motor(mechanism)));
  double samples = 0.0;
  for (const Segment& segment : segments) {
    samples += segment.sample_count();
    if (segment.control_noise.size() == 0) continue;
    squares += segment.sample_count() * segment.control_noise.cwiseAbs2();
  }
  if (squares.isZero(0.0)) return noise;
  if (noise.size() == 0) noise.setZero(squares.size());
  return (noise.cwiseAbs2() + squares / samples).cwiseSqrt();
}

ControlNoiseModel::ControlNoiseModel(const Mechanism& mechanism, const Eigen::VectorXd& control,
                                     double period)
    : dynamics_(mechanism, parameter_values(mechanism)),
      motors_(joints_with_motor(mechanism)),
      control_(control),
      period_(period) {}

Eigen::MatrixXd ControlNoiseModel::density(const Eigen::VectorXd& angles) {
  const Eigen::Index n = angles.size();
  const JointVector<double> q = angles, zero = JointVector<double>::Zero(n);
  JointVector<double> at_rest, disturbed, control_error = zero;
  dynamics_.torque_residual(q, zero, zero, zero, at_rest);
  Eigen::MatrixXd torques(n, control_.size());
  for (Eigen::Index m = 0; m < control_.size(); ++m) {
    const int joint = motors_[static_cast<std::size_t>(m)];
    control_error[joint] = control_[m];
    dynamics_.torque_residual(q, zero, zero, control_error, disturbed);
    torques.col(m) = at_rest - disturbed;
    control_error[joint] = 0.0;
  }
  const Eigen::MatrixXd moved = mass_matrix(dynamics_, angles).llt().solve(torques);
  return period_ * moved * moved.transpose();
}

Eigen::MatrixXd compute_acceleration_whitening(ControlNoiseModel& noise,
                                               const Eigen::VectorXd& acceleration,
                                               const Eigen::VectorXd& angles) {
  const Eigen::Index n = angles.size();
  Eigen::MatrixXd S = noise.density(angles);
  S.diagonal() += acceleration.cwiseAbs2();
  return S.llt().matrixL().solve(Eigen::MatrixXd::Identity(n, n));
}

}  // namespace estimator
