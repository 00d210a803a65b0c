#pragma once

#include <Eigen/Core>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"

namespace estimator {

/// Returns the joint-space mass matrix. Column k contains the joint torques for a unit acceleration
/// of joint k alone [Fea08, sec. 6.2]. Closed loops are cut. As a side effect, `dynamics` then
/// contains the bearing loads at rest.
///
/// @param coordinates  one per joint [rad or m]
inline Eigen::MatrixXd mass_matrix(TreeInverseDynamics<double>& dynamics,
                                   const Eigen::VectorXd& coordinates) {
  const Eigen::Index n = dynamics.joint_count();
  const JointVector<double> angle = coordinates, zero = JointVector<double>::Zero(n);
  JointVector<double> rest, column, unit = zero;
  Eigen::MatrixXd mass(n, n);
  for (Eigen::Index k = 0; k < n; ++k) {
    unit[k] = 1.0;
    dynamics.torque_residual(angle, zero, unit, zero, column);
    mass.col(k) = column;
    unit[k] = 0.0;
  }
  dynamics.torque_residual(angle, zero, zero, zero, rest);
  return mass.colwise() - Eigen::VectorXd(rest);
}

}  // namespace estimator
