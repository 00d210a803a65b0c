#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "estimator/model/joint_stop.hpp"

namespace estimator {

/// M⁻¹ B by Gaussian elimination without pivoting, for positive definite M.
template <typename T>
Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> solve_definite(
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> M,
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> B) {
  const Eigen::Index n = M.rows();
  for (Eigen::Index p = 0; p < n; ++p) {
    for (Eigen::Index i = p + 1; i < n; ++i) {
      const T share = M(i, p) / M(p, p);
      for (Eigen::Index k = p; k < n; ++k) M(i, k) -= share * M(p, k);
      for (Eigen::Index k = 0; k < B.cols(); ++k) B(i, k) -= share * B(p, k);
    }
  }
  for (Eigen::Index p = n; p-- > 0;) {
    for (Eigen::Index k = 0; k < B.cols(); ++k) {
      for (Eigen::Index i = p + 1; i < n; ++i) B(p, k) -= M(p, i) * B(i, k);
      B(p, k) /= M(p, p);
    }
  }
  return B;
}

/// A joint at whose end stop an impulse acts in an impact.
template <typename T>
struct ImpactedJoint {
  int joint;
  T restitution;
};

/// Change of all rates when impulses along the struck joints change these joints' own rates by
/// `wanted`: M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ wanted. J has a row of the identity for each struck joint.
///
/// @param mass    n × n, positive definite [kg·m²]
/// @param wanted  struck × columns [rad/s]
/// @return n × columns
template <typename T>
Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> apply_joint_impulses(
    const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& mass,
    const std::vector<ImpactedJoint<T>>& struck,
    const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& wanted) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const auto count = static_cast<Eigen::Index>(struck.size());
  Matrix across = Matrix::Constant(mass.rows(), count, T(0.0)), response(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    across(struck[static_cast<std::size_t>(i)].joint, i) = T(1.0);
  }
  across = solve_definite<T>(mass, across);
  for (Eigen::Index i = 0; i < count; ++i) {
    response.row(i) = across.row(struck[static_cast<std::size_t>(i)].joint);
  }
  return across * solve_definite<T>(response, wanted);
}

/// Rates after an impact at end stops: Gauss's impact principle [MTM, eq. 7] with Newton's law of
/// restitution [MTM, eq. 11],
///
///   min ½ (v⁺ − v⁻)ᵀ M (v⁺ − v⁻)   subject to   J v⁺ = −E J v⁻,
///   v⁺ = v⁻ + M⁻¹ Jᵀ Λ,   J M⁻¹ Jᵀ Λ = −(1 + E) J v⁻,
///
/// with J as in apply_joint_impulses and the restitutions E. Impulses act along the struck joints
/// only. The other rates jump according to the mass matrix, since forces of friction, springs and
/// motors are finite. [MTM, eq. 17] has the opposite sign of E: joints would pass through their
/// stops.
///
/// Kinetic energy changes by ½ Λᵀ (1 − E) J v⁻ ≤ 0 if the stops push and the joints approach them.
///
/// @param mass   n × n, positive definite [kg·m²]
/// @param rates  n × columns: v⁻ [rad/s]; each column is a separate impact
/// @return v⁺, n × columns
template <typename T>
Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> resolve_impact(
    const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& mass,
    const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& rates,
    const std::vector<ImpactedJoint<T>>& struck) {
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> wanted(static_cast<Eigen::Index>(struck.size()),
                                                          rates.cols());
  for (Eigen::Index i = 0; i < wanted.rows(); ++i) {
    const ImpactedJoint<T>& each = struck[static_cast<std::size_t>(i)];
    wanted.row(i) = rates.row(each.joint) * T(T(-1.0) - each.restitution);
  }
  return rates + apply_joint_impulses<T>(mass, struck, wanted);
}

/// Determines the stops at which impulses act if several joints are at their stops: Λ ≥ 0 and J v⁺
/// ≥ −E J v⁻ for each, one of them an equality. A joint that rests at its stop leaves it if the
/// impact moves it away, and receives an impulse if it would pass through. Energy does not increase
/// if no joint moves away from its stop before the impact.
///
/// @param mass   n × n, positive definite [kg·m²]
/// @param rates  v⁻ [rad/s]
/// @param stops  of different joints
/// @return indices into `stops`, ascending
std::vector<int> active_stops(const Eigen::MatrixXd& mass, const Eigen::VectorXd& rates,
                              std::span<const JointStop> stops);

}  // namespace estimator
