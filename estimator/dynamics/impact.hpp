#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "estimator/math/lemke.hpp"
#include "estimator/model/joint_stop.hpp"

namespace estimator {

/// Returns M⁻¹ B for a positive definite M, by Gaussian elimination without pivoting.
template <typename T>
Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> solve_positive_definite(
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

/// A joint at whose end stop an impulse acts, with its coefficient of restitution.
template <typename T>
struct ImpactedJoint {
  int joint;
  T restitution;
};

/// Returns the change of all joint rates due to impulses along the struck joints that change the
/// rates of the struck joints by `rate_changes` [rad/s]. The result is M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹
/// rate_changes with the mass matrix M and the matrix J that selects the struck joints: each row
/// has a single 1.
///
/// @param mass    mass matrix, n × n, positive definite [kg·m²]
/// @param rate_changes  struck joints × columns [rad/s]
/// @return n × columns; each column is a separate case
template <typename T>
Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> apply_joint_impulses(
    const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& mass,
    const std::vector<ImpactedJoint<T>>& struck,
    const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& rate_changes) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const auto count = static_cast<Eigen::Index>(struck.size());
  Matrix across = Matrix::Constant(mass.rows(), count, T(0.0)), response(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    across(struck[i].joint, i) = T(1.0);
  }
  across = solve_positive_definite<T>(mass, across);
  for (Eigen::Index i = 0; i < count; ++i) {
    response.row(i) = across.row(struck[i].joint);
  }
  return across * solve_positive_definite<T>(response, rate_changes);
}

/// Returns the joint rates v⁺ after an impact at end stops, for the rates v⁻ before the impact.
/// They obey Gauss's impact principle [MTM, eq. 7] and Newton's law of restitution [MTM, eq. 11],
///
///   min ½ (v⁺ − v⁻)ᵀ M (v⁺ − v⁻)   subject to   J v⁺ = −E J v⁻,
///   v⁺ = v⁻ + M⁻¹ Jᵀ Λ,   J M⁻¹ Jᵀ Λ = −(1 + E) J v⁻,
///
/// with the impulses Λ, J as in apply_joint_impulses, and the restitutions E. Impulses act only
/// along the struck joints. The rates of all other joints change because the mass matrix couples
/// the joints. Forces of friction, springs and motors are finite and therefore have no effect on
/// the impact. [MTM, eq. 17] has the opposite sign of E, with which joints would pass through their
/// stops.
///
/// The kinetic energy changes by ½ Λᵀ (1 − E) J v⁻ ≤ 0 if stops push and joints approach them.
///
/// @param mass   mass matrix M, n × n, positive definite [kg·m²]
/// @param rates  rates v⁻, n × columns [rad/s]; each column is a separate impact
/// @return rates v⁺, n × columns
template <typename T>
Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> resolve_impact(
    const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& mass,
    const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& rates,
    const std::vector<ImpactedJoint<T>>& struck) {
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> rate_changes(
      static_cast<Eigen::Index>(struck.size()), rates.cols());
  for (Eigen::Index i = 0; i < rate_changes.rows(); ++i) {
    const ImpactedJoint<T>& each = struck[i];
    rate_changes.row(i) = rates.row(each.joint) * T(T(-1.0) - each.restitution);
  }
  return rates + apply_joint_impulses<T>(mass, struck, rate_changes);
}

/// Returns the end stops at which impulses act in an impact while several joints are at their
/// stops. The impulses satisfy Λ ≥ 0 and J v⁺ ≥ −E J v⁻ with one equality per stop, in the notation
/// of resolve_impact. A joint at rest at its stop may move away, and receives an impulse if it
/// would pass the stop. Energy does not increase if no joint moves away from its stop before the
/// impact.
///
/// @param mass   mass matrix, n × n, positive definite [kg·m²]
/// @param rates  rates v⁻ before the impact [rad/s]
/// @param stops  stops of different joints
/// @return indices into `stops`, ascending
inline std::vector<int> find_active_stops(const Eigen::MatrixXd& mass, const Eigen::VectorXd& rates,
                                          std::span<const JointStop> stops) {
  // Complementarity problem in the impulses Λ, positive away from the stops.
  const auto count = static_cast<Eigen::Index>(stops.size());
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(count, mass.rows());
  Eigen::VectorXd rate_changes(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const JointStop& stop = stops[i];
    J(i, stop.joint) = stop.side;
    rate_changes[i] = (1.0 + stop.restitution) * stop.side * rates[stop.joint];
  }
  const Eigen::MatrixXd across = solve_positive_definite<double>(mass, J.transpose());
  const ComplementaritySolution solution = solve_linear_complementarity(J * across, rate_changes);
  std::vector<int> pushing;
  for (Eigen::Index i = 0; i < count; ++i) {
    if (solution.z[i] > 0.0) pushing.push_back(static_cast<int>(i));
  }
  return pushing;
}

}  // namespace estimator
