#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "estimator/model/joint_stop.hpp"

namespace estimator {

/// M⁻¹ B by elimination without pivoting, M positive definite.
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

/// A joint whose stop pushes in an impact.
template <typename T>
struct StruckJoint {
  int joint;
  T restitution;
};

/// What rates change by when impulses along joints struck change those joints' own by `wanted`:
/// M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹ wanted, J having a row of the identity for each of these joints.
///
/// @param mass    n × n, positive definite [kg·m²]
/// @param wanted  struck × columns [rad/s]
/// @return n × columns
template <typename T>
Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> push_joints(
    const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& mass,
    const std::vector<StruckJoint<T>>& struck,
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

/// Rates after joints have struck their stops: Gauss's impact principle [MTM, eq. 7] with Newton's
/// law of restitution [MTM, eq. 11],
///
///   min ½ (v⁺ − v⁻)ᵀ M (v⁺ − v⁻)   subject to   J v⁺ = −E J v⁻,
///   v⁺ = v⁻ + M⁻¹ Jᵀ Λ,   J M⁻¹ Jᵀ Λ = −(1 + E) J v⁻,
///
/// J as in push_joints, E the restitutions. Impulses act along these joints' coordinates alone; all
/// others' rates jump as the mass matrix says, since what their friction, springs and motors do is
/// finite. [MTM, eq. 17] has the opposite sign of E: joints would go on through their stops.
///
/// Kinetic energy changes by ½ Λᵀ (1 − E) J v⁻ ≤ 0 where the stops push and the joints come on.
///
/// @param mass   n × n, positive definite [kg·m²]
/// @param rates  n × columns: v⁻ [rad/s]; each column is an impact of its own
/// @return v⁺, n × columns
template <typename T>
Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> strike(
    const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& mass,
    const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>& rates,
    const std::vector<StruckJoint<T>>& struck) {
  Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> wanted(static_cast<Eigen::Index>(struck.size()),
                                                          rates.cols());
  for (Eigen::Index i = 0; i < wanted.rows(); ++i) {
    const StruckJoint<T>& each = struck[static_cast<std::size_t>(i)];
    wanted.row(i) = rates.row(each.joint) * T(T(-1.0) - each.restitution);
  }
  return rates + push_joints<T>(mass, struck, wanted);
}

/// Which of the stops that joints are at push, where some are struck: Λ ≥ 0 and J v⁺ ≥ −E J v⁻ of
/// each, one of them an equality. A joint that rests at its stop leaves it where the impact takes
/// it away, and is pushed where it would go through. Never more energy than before where none of
/// the joints moves away from its stop beforehand.
///
/// @param mass   n × n, positive definite [kg·m²]
/// @param rates  v⁻ [rad/s]
/// @param stops  of different joints
/// @return indices into `stops`, rising
std::vector<int> pushing_stops(const Eigen::MatrixXd& mass, const Eigen::VectorXd& rates,
                               std::span<const JointStop> stops);

}  // namespace estimator
