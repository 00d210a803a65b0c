#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "estimator/math/small_ldlt.hpp"
#include "estimator/model/kinematics/joint_geometry.hpp"
#include "estimator/model/parameter_target.hpp"
#include "estimator/spook/joint_terms.hpp"
#include "estimator/spook/step_residual.hpp"

namespace estimator {

/// Data of one body for a pose and its velocities before and after the step.
struct BodyTerms {
  Eigen::Vector3d r;
  Eigen::Matrix3d R;  ///< body to world
  double mass;
  Eigen::Matrix3d inertia;  ///< inertia J_w = R J Rᵀ, world frame
  Eigen::Matrix3d inertia_inverse;
  Eigen::Vector3d v, omega;  ///< before the step
  Eigen::Vector3d v_next, omega_next;
  Eigen::Vector3d omega_gyro;  ///< second velocity in the gyroscopic torque: ω or ω⁺
};

/// Constants of a joint's five constraint rows.
struct RowScales {
  double gamma;                             ///< γ = 1/(1 + 4τ/h)
  Eigen::Matrix<double, 5, 1> sigma;        ///< regularization Σ
  Eigen::Matrix<double, 5, 1> sigma_w_inv;  ///< inverse weighting compliance Σ_w⁻¹
  Eigen::Matrix<double, 5, 1> rho;          ///< 1 − Σ_w⁻¹ Σ
};

/// Data of one joint in a step.
struct JointTerms {
  JointGeometry geometry;
  double omega, omega_next;  ///< joint rate before and after the step
  double angle;              ///< joint angle θ, set only for a joint with a spring
  Eigen::RowVector3d angle_turn;  ///< ∂θ/∂δψ_b = −∂θ/∂δψ_a, set only for a joint with a spring
  double damping;                 ///< damping coefficient D of axis_damping
  double sat;                     ///< regularized dry friction as a fraction of its bound
  double bound;                   ///< bound B of dry friction, including the load-dependent part
  double torque;                  ///< axis impulse T [N·m·s]
};

/// Returns the product a b without Eigen's blocked algorithm for fixed sizes: at about 12 x 10 x
/// 12, packing costs more than the arithmetic. The result refers to both operands.
template <typename A, typename B>
auto multiply(const Eigen::MatrixBase<A>& a, const Eigen::MatrixBase<B>& b) {
  if constexpr (A::SizeAtCompileTime != Eigen::Dynamic) {
    return a.derived().lazyProduct(b.derived());
  } else {
    return a.derived() * b.derived();
  }
}

/// Intermediate results of one step residual, reused for its derivatives. Sizes are fixed at
/// compile time for common mechanisms and dynamic otherwise.
///
/// Impulses depend on the bodies' rotations only. Their derivatives are therefore stored for the
/// rotations, 3 per body, instead of all tangent directions, 6 per body.
template <int kBodies, int kJoints>
struct StepWorkspace {
  static constexpr int kV = kBodies == Eigen::Dynamic ? Eigen::Dynamic : 6 * kBodies;
  static constexpr int kT = kBodies == Eigen::Dynamic ? Eigen::Dynamic : 3 * kBodies;
  static constexpr int kC = kJoints == Eigen::Dynamic ? Eigen::Dynamic : 5 * kJoints;
  using VectorV = Eigen::Matrix<double, kV, 1>;
  using VectorC = Eigen::Matrix<double, kC, 1>;
  using MatrixCV = Eigen::Matrix<double, kC, kV>;
  using MatrixVC = Eigen::Matrix<double, kV, kC>;
  using MatrixVV = Eigen::Matrix<double, kV, kV>;
  using MatrixVT = Eigen::Matrix<double, kV, kT>;
  using MatrixTT = Eigen::Matrix<double, kT, kT>;
  using MatrixCT = Eigen::Matrix<double, kC, kT>;
  using MatrixCC = Eigen::Matrix<double, kC, kC>;

  std::vector<BodyTerms> bodies;
  std::vector<JointTerms> joints;
  MatrixCV A;         ///< constraint rows
  MatrixVC M_inv_At;  ///< M⁻¹ Aᵀ
  MatrixCC S;         ///< A M⁻¹ Aᵀ + Σ
  SmallLdlt<kC> factor;
  bool regular;  ///< whether S could be factored
  VectorV v, w, p, phi, residual;
  VectorC c, s, lambda, big_lambda;

  // Linearization.
  MatrixTT P_q, P_v, P_w;  ///< ∂P for P = M φ − Aᵀ λ − p at fixed φ, λ; P_v lacks −M by r
  MatrixTT E_q;            ///< ∂(M w − p − Aᵀ Λ)/∂q at fixed Λ
  MatrixCT C_turn, s_turn;  ///< ∂(A φ − c)/∂q at fixed φ and ∂s/∂q, minus (4γ/h) A
  MatrixVC Y_t;             ///< Aᵀ ρ S⁻¹
  MatrixVV N;               ///< Y_t A M⁻¹
  MatrixVT N_turn;          ///< columns of N for the rotations
  MatrixVC Aw_t;            ///< Aᵀ Σ_w⁻¹
  MatrixVC gamma_t;         ///< (Aᵀ Σ_w⁻¹ + Y_t) γ
  Eigen::Matrix<double, kV, Eigen::Dynamic> E_p, P_p;  ///< as E_q, P_q, by free parameters
  Eigen::Matrix<double, kC, Eigen::Dynamic> s_p, C_p;  ///< as s_q, C_q, by free parameters

  void resize(int bodies_count, int joints_count) {
    if (static_cast<int>(bodies.size()) == bodies_count &&
        static_cast<int>(joints.size()) == joints_count) {
      return;
    }
    const int nv = 6 * bodies_count, nc = 5 * joints_count;
    bodies.resize(static_cast<std::size_t>(bodies_count));
    joints.resize(static_cast<std::size_t>(joints_count));
    A.setZero(nc, nv);
    M_inv_At.setZero(nv, nc);
    S.setZero(nc, nc);
    for (VectorV* x : {&v, &w, &p, &phi, &residual}) x->setZero(nv);
    for (VectorC* x : {&c, &s, &lambda, &big_lambda}) x->setZero(nc);
    for (MatrixTT* x : {&P_q, &P_v, &P_w, &E_q}) x->setZero(3 * bodies_count, 3 * bodies_count);
    for (MatrixCT* x : {&C_turn, &s_turn}) x->setZero(nc, 3 * bodies_count);
    for (MatrixVC* x : {&Y_t, &Aw_t, &gamma_t}) x->setZero(nv, nc);
    N.setZero(nv, nv);
    N_turn.setZero(nv, 3 * bodies_count);
  }
};

}  // namespace estimator
