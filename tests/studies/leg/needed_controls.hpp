#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/loop_closure.hpp"

namespace service {

/// Inverse dynamics, also through closed loops: computes the controls that produce a motion. Let r
/// be the joint torques of the motion without controls, friction included, and N the dependence of
/// joint rates on those of the driven joints, v = N v_m. Then
///
///   K u = Nᵀ r(q, v, a),
///
/// The loops' reactions do not appear, since they do no work along N.
class ControlInverseDynamics {
 public:
  /// @param mechanism  its motors drive all its degrees of freedom
  /// @throws std::invalid_argument if there are more than kTreeJointsMax joints, a motor's gain is
  /// zero, or friction depends on the unknown bearing load in a loop
  explicit ControlInverseDynamics(const estimator::Mechanism& mechanism);

  /// Returns N at closed loops, joints × motors.
  /// @throws std::invalid_argument if the motors do not determine the motion, as at a dead centre
  Eigen::MatrixXd joint_rate_map(const Eigen::VectorXd& angles);

  /// Returns u, one per motor [unit of its control]. Joints at rest have no dry friction.
  /// @param angles, rates, accelerations  of all joints [rad, rad/s, rad/s²], loops closed
  /// @throws std::invalid_argument see `couplings`
  Eigen::VectorXd at(const Eigen::VectorXd& angles, const Eigen::VectorXd& rates,
                     const Eigen::VectorXd& accelerations);

 private:
  estimator::Mechanism mechanism_;
  estimator::TreeInverseDynamics<double> dynamics_;
  estimator::LoopClosure closure_;
  std::vector<int> motors_;  // joints with a motor
  Eigen::VectorXd gains_;    // of each
};

}  // namespace service
