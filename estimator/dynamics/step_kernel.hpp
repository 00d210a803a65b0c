#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "estimator/dynamics/hinge_terms.hpp"
#include "estimator/dynamics/step_residual.hpp"
#include "estimator/model/hinge_geometry.hpp"
#include "estimator/model/parameter_target.hpp"

namespace estimator {

/// Everything about one body that a step needs at one configuration and pair of velocities.
struct BodyTerms {
  Eigen::Vector3d r;
  Eigen::Matrix3d R;  ///< body to world
  double mass;
  Eigen::Matrix3d inertia;  ///< J_w = R J Rᵀ, world frame
  Eigen::Matrix3d inertia_inverse;
  Eigen::Vector3d v, omega;  ///< before the step
  Eigen::Vector3d v_next, omega_next;
  Eigen::Vector3d omega_gyro;  ///< partner of ω in the gyroscopic torque: ω itself or ω⁺
};

/// Constants of a hinge's five constraint rows.
struct RowScales {
  double gamma;                             ///< γ = 1/(1 + 4τ/h)
  Eigen::Matrix<double, 5, 1> sigma;        ///< Σ
  Eigen::Matrix<double, 5, 1> sigma_w_inv;  ///< Σ_w⁻¹
  Eigen::Matrix<double, 5, 1> rho;          ///< 1 − Σ_w⁻¹ Σ
};

/// Everything about one hinge that a step needs.
struct HingeTerms {
  HingeGeometry geometry;
  double omega, omega_next;  ///< hinge speed before and after
  double angle;
  double damping;  ///< D of axis_damping
  double sat;      ///< saturation of the dry friction
  double bound;    ///< B, including the load-dependent part
  double torque;   ///< T, axis impulse [N·m·s]
};

/// Products of one evaluation, reused by the linearisation. Sizes are fixed at compile time for
/// the common mechanisms and dynamic otherwise.
template <int kBodies, int kHinges>
struct StepWorkspace {
  static constexpr int kV = kBodies == Eigen::Dynamic ? Eigen::Dynamic : 6 * kBodies;
  static constexpr int kC = kHinges == Eigen::Dynamic ? Eigen::Dynamic : 5 * kHinges;
  using VectorV = Eigen::Matrix<double, kV, 1>;
  using VectorC = Eigen::Matrix<double, kC, 1>;
  using MatrixCV = Eigen::Matrix<double, kC, kV>;
  using MatrixVC = Eigen::Matrix<double, kV, kC>;
  using MatrixVV = Eigen::Matrix<double, kV, kV>;
  using MatrixCC = Eigen::Matrix<double, kC, kC>;

  std::vector<BodyTerms> bodies;
  std::vector<HingeTerms> hinges;
  MatrixCV A;         ///< constraint rows
  MatrixVC M_inv_At;  ///< M⁻¹ Aᵀ
  MatrixCC S;         ///< A M⁻¹ Aᵀ + Σ
  Eigen::LLT<MatrixCC> factor;
  VectorV v, w, p, phi, residual;
  VectorC c, s, lambda, big_lambda;

  // Linearisation.
  MatrixVV P_q, P_v, P_w;  ///< ∂P for P = M φ − Aᵀ λ − p at fixed φ, λ
  MatrixVV E_q;            ///< ∂(M w − p − Aᵀ Λ)/∂q at fixed Λ
  MatrixCV C_q, s_q;       ///< ∂(A φ − c)/∂q at fixed φ, ∂s/∂q
  MatrixVC Y_t;            ///< Aᵀ ρ S⁻¹
  MatrixVV N;              ///< Y_t A M⁻¹
  MatrixVC Aw_t;           ///< Aᵀ Σ_w⁻¹
  Eigen::Matrix<double, kV, Eigen::Dynamic> E_p, P_p;  ///< as E_q, P_q, along free parameters
  Eigen::Matrix<double, kC, Eigen::Dynamic> s_p, C_p;  ///< as s_q, C_q, along free parameters

  void resize(int bodies_count, int hinges_count) {
    if (static_cast<int>(bodies.size()) == bodies_count &&
        static_cast<int>(hinges.size()) == hinges_count) {
      return;
    }
    const int nv = 6 * bodies_count, nc = 5 * hinges_count;
    bodies.resize(static_cast<std::size_t>(bodies_count));
    hinges.resize(static_cast<std::size_t>(hinges_count));
    A.setZero(nc, nv);
    M_inv_At.setZero(nv, nc);
    S.setZero(nc, nc);
    for (VectorV* x : {&v, &w, &p, &phi, &residual}) x->setZero(nv);
    for (VectorC* x : {&c, &s, &lambda, &big_lambda}) x->setZero(nc);
    for (MatrixVV* x : {&P_q, &P_v, &P_w, &E_q, &N}) x->setZero(nv, nv);
    for (MatrixCV* x : {&C_q, &s_q}) x->setZero(nc, nv);
    for (MatrixVC* x : {&Y_t, &Aw_t}) x->setZero(nv, nc);
  }
};

}  // namespace estimator
