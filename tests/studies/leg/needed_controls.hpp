#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"

namespace service {

/// Inverse dynamics for open and closed loops, which computes the controls u that produce a motion.
/// Let r be the joint torques of the motion without controls, friction included. Let N be the
/// matrix that maps the rates v_m of the driven joints to all joint rates, v = N v_m. With the
/// motor gains K, the controls satisfy
///
///   K u = Nᵀ r(q, v, a),
///
/// The reactions in the loops do not appear, because they do no work along N.
class ControlInverseDynamics {
 public:
  /// @param mechanism  mechanism whose motors drive all its degrees of freedom
  /// @throws std::invalid_argument if there are more than kTreeJointsMax joints, a motor's gain is
  /// zero, or friction depends on the unknown bearing load in a loop
  explicit ControlInverseDynamics(const estimator::Mechanism& mechanism);

  /// Returns the matrix from driven-joint rates to joint rates, joints × motors. Loops must be
  /// closed.
  /// @throws std::invalid_argument if the motors do not determine the motion, as at a dead centre
  Eigen::MatrixXd joint_rate_map(const Eigen::VectorXd& angles);

  /// Returns the controls of all motors [unit of the control]. Joints at rest have no dry friction.
  /// @param angles, rates, accelerations  of all joints [rad, rad/s, rad/s²], loops closed
  /// @throws std::invalid_argument under the conditions of joint_rate_map
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
