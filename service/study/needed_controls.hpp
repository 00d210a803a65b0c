#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/tree/loop_closure.hpp"

namespace service {

/// Inverse dynamics, through closed loops too: the controls under which a mechanism moves as it
/// does. With r the torques that a motion asks of its joints without controls, friction included,
/// and N how the joints move with the driven ones, v = N v_m,
///
///   K u = Nᵀ r(q, v, a),
///
/// in which the loops' reactions have no part, since they do no work along N.
class NeededControls {
 public:
  /// @param mechanism  its motors drive all its degrees of freedom
  /// @throws std::invalid_argument where there are more joints than kTreeHingesMax, a motor's gain
  ///         is zero, or friction grows with the load of bearings in a loop, which is not known
  explicit NeededControls(const estimator::Mechanism& mechanism);

  /// N at closed loops: how the joints move with those that motors drive, joints × motors.
  /// @throws std::invalid_argument where the motors do not determine the motion, as at a dead
  ///         centre
  Eigen::MatrixXd couplings(const Eigen::VectorXd& angles);

  /// u, one a motor [unit of its control]. Dry friction that holds a joint at rest is taken as
  /// none.
  /// @param angles, rates, accelerations  of all joints [rad, rad/s, rad/s²], loops closed
  /// @throws std::invalid_argument as `couplings`
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
