#include "tests/studies/leg/needed_controls.hpp"

#include <stdexcept>

#include "estimator/math/decompositions.hpp"

namespace service {
namespace {

constexpr double kLoopRank = 1e-7;    // of the closures' derivatives, relative to the largest pivot
constexpr double kDrivenRank = 1e-6;  // of the motion determined by motors, likewise

std::vector<double> checked_values(const estimator::Mechanism& mechanism) {
  if (mechanism.joint_count() > estimator::kTreeJointsMax) {
    throw std::invalid_argument("controls of a mechanism with more than " +
                                std::to_string(estimator::kTreeJointsMax) +
                                " joints cannot be computed");
  }
  return parameter_values(mechanism);
}

}  // namespace

ControlInverseDynamics::ControlInverseDynamics(const estimator::Mechanism& mechanism)
    : mechanism_(mechanism), dynamics_(mechanism, checked_values(mechanism)), closure_(mechanism) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (mechanism.joints[static_cast<std::size_t>(j)].motor.present) motors_.push_back(j);
  }
  gains_.resize(static_cast<Eigen::Index>(motors_.size()));
  for (std::size_t i = 0; i < motors_.size(); ++i) {
    const estimator::Parameter& gain =
        mechanism.joint_parameter(motors_[i], estimator::JointParameter::kMotorGain);
    if (gain.value == 0.0) throw std::invalid_argument(gain.name + " is zero: no control moves it");
    gains_[static_cast<Eigen::Index>(i)] = gain.value;
  }
  if (closure_.has_loops() && dynamics_.has_load_dependent_friction()) {
    throw std::invalid_argument(
        "friction that depends on bearing load is unknown in a closed loop");
  }
}

Eigen::MatrixXd ControlInverseDynamics::joint_rate_map(const Eigen::VectorXd& angles) {
  const Eigen::Index n = mechanism_.joint_count();
  Eigen::MatrixXd motions = Eigen::MatrixXd::Identity(n, n);
  if (closure_.has_loops()) {
    motions = estimator::null_space(closure_.closure_jacobian(angles), kLoopRank);
  }
  const Eigen::MatrixXd driven = motions(motors_, Eigen::all);
  if (driven.rows() != driven.cols() || estimator::null_space(driven, kDrivenRank).cols() > 0) {
    throw std::invalid_argument("the motors do not determine the motion of the joints");
  }
  return motions * estimator::pseudo_inverse(driven);
}

Eigen::VectorXd ControlInverseDynamics::at(const Eigen::VectorXd& angles,
                                           const Eigen::VectorXd& rates,
                                           const Eigen::VectorXd& accelerations) {
  const estimator::JointVector<double> angle = angles, rate = rates, acceleration = accelerations;
  const estimator::JointVector<double> no_control =
      estimator::JointVector<double>::Zero(angles.size());
  estimator::JointVector<double> torque;
  dynamics_.torque_residual(angle, rate, acceleration, no_control, torque);
  for (int j = 0; j < mechanism_.joint_count(); ++j) {
    const bool creeps = mechanism_.joints[static_cast<std::size_t>(j)].transition_speed > 0.0;
    const double slip = creeps          ? dynamics_.smoothed_friction_fraction(j, rate[j])
                        : rate[j] > 0.0 ? 1.0
                        : rate[j] < 0.0 ? -1.0
                                        : 0.0;
    torque[j] += slip * dynamics_.dry_friction_bound(j, rate[j]);
  }
  const Eigen::VectorXd of_motors = joint_rate_map(angles).transpose() * Eigen::VectorXd(torque);
  return of_motors.cwiseQuotient(gains_);
}

}  // namespace service
