#pragma once

#include <Eigen/Core>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"

namespace estimator {

/// Torques of the joints that each one's unit acceleration asks for, the others still [Fea08, sec.
/// 6.2]. Closed loops are cut. Leaves the bearings' loads at rest without acceleration in
/// `dynamics`.
///
/// @param coordinates  one a joint [rad or m]
inline Eigen::MatrixXd mass_matrix(TreeInverseDynamics<double>& dynamics,
                                   const Eigen::VectorXd& coordinates) {
  const Eigen::Index n = dynamics.hinge_count();
  const JointVector<double> angle = coordinates, zero = JointVector<double>::Zero(n);
  JointVector<double> rest, column, unit = zero;
  Eigen::MatrixXd mass(n, n);
  for (Eigen::Index k = 0; k < n; ++k) {
    unit[k] = 1.0;
    dynamics.imbalance(angle, zero, unit, zero, column);
    mass.col(k) = column;
    unit[k] = 0.0;
  }
  dynamics.imbalance(angle, zero, zero, zero, rest);
  return mass.colwise() - Eigen::VectorXd(rest);
}

}  // namespace estimator
