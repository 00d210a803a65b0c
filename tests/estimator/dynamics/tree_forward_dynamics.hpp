#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <memory>
#include <type_traits>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/simulation/contact.hpp"

namespace estimator {

/// Continuous-time forward dynamics of a mechanism without loops, with dry friction as a set-valued
/// law: −sgn(ω) B(ω) on a slipping joint, any holding torque on a sticking one.
///
/// Accelerations α solve the inverse dynamics for given stick/slip states of the joints. They are
/// computed with plain numbers. Derivatives follow from one linear solve, dα = −M⁻¹ dρ, with mass
/// matrix M and residual ρ of the inverse dynamics at fixed α.
template <typename T>
class TreeForwardDynamics {
 public:
  using Vector = JointVector<T>;

  /// @param mechanism  without loops, at most kTreeJointsMax joints
  /// @param parameters one value per parameter of the mechanism, in its order
  TreeForwardDynamics(const Mechanism& mechanism, const std::vector<T>& parameters);

  int joint_count() const { return dynamics_.joint_count(); }

  /// Computes the accelerations of all joints; zero for sticking joints.
  void accelerate(const Vector& angle, const Vector& rate, const Vector& control,
                  const Contacts& contacts, Vector& acceleration);

  /// Returns the friction torque that keeps a sticking joint at rest, after accelerate() [N·m].
  double holding_torque(int joint) const { return value_of(imbalance_[joint]); }

  /// Returns the largest friction torque that can hold a joint, at the load after accelerate()
  /// [N·m].
  double holding_bound(int joint) const { return value_of(dynamics_.dry_bound(joint, T(0.0))); }

 private:
  void assemble_mass_matrix(const Vector& angle, const Vector& rate, const Vector& control,
                            const Contacts& contacts);
  void solve(const Vector& angle, const Vector& rate, const Vector& control,
             const Contacts& contacts, Vector& acceleration) requires std::is_same_v<T, double>;
  void differentiate(const Vector& angle, const Vector& rate, const Vector& control,
                     const Contacts& contacts,
                     Vector& acceleration) requires std::is_same_v<T, Dual>;
  void add_friction(const Vector& rate, const Contacts& contacts, Vector& residual) const;

  TreeInverseDynamics<T> dynamics_;
  Vector imbalance_, residual_;
  using Matrix =
      Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kTreeJointsMax, kTreeJointsMax>;
  Matrix mass_;
  Eigen::LLT<Matrix> factor_;
  template <typename>
  friend class TreeForwardDynamics;
  std::unique_ptr<TreeForwardDynamics<double>> plain_;  // values only; of a Dual
};

extern template class TreeForwardDynamics<double>;
extern template class TreeForwardDynamics<Dual>;

}  // namespace estimator
