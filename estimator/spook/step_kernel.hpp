#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>
#include <vector>

#include "estimator/math/angle_wrapping.hpp"
#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/spook/joint_terms.hpp"
#include "estimator/spook/step_residual.hpp"

namespace estimator {

/// Factorization S = L D Lᵀ of a symmetric positive definite matrix of about 5 to 50 rows, with L
/// unit lower triangular. It operates on whole columns, so the compiler can vectorize it for a
/// fixed size. At these sizes, Eigen's general solvers spend most of their time on overhead.
///
/// @tparam kSize  rows of S, or Eigen::Dynamic
template <int kSize>
class SmallLdlt {
 public:
  using Matrix = Eigen::Matrix<double, kSize, kSize>;
  using Vector = Eigen::Matrix<double, kSize, 1>;

  /// @return whether every pivot is positive; if not, no other function may be called
  bool factorize(const Matrix& S) {
    L_ = S;
    inverse_d_.resize(S.rows());
    const Eigen::Index n = L_.rows();
    for (Eigen::Index j = 0; j < n; ++j) {
      if (!(L_(j, j) > 0.0)) return false;  // NaN too
      inverse_d_[j] = 1.0 / L_(j, j);
      for (Eigen::Index k = j + 1; k < n; ++k) {
        L_.col(k) -= (L_(k, j) * inverse_d_[j]) * L_.col(j);
      }
      L_.col(j) *= inverse_d_[j];
      L_.col(j).head(j + 1).setZero();  // whole columns can then be subtracted in the solves
    }
    return true;
  }

  /// x ← S⁻¹ x.
  void solve_in_place(Vector& x) const {
    const Eigen::Index n = L_.rows();
    for (Eigen::Index j = 0; j < n; ++j) x -= x[j] * L_.col(j);
    x = x.cwiseProduct(inverse_d_);
    for (Eigen::Index j = n - 1; j >= 0; --j) x[j] -= L_.col(j).dot(x);
  }

  /// Y ← Y S⁻¹.
  template <int kRows>
  void solve_from_right(Eigen::Matrix<double, kRows, kSize>& Y) const {
    const Eigen::Index n = L_.rows();
    for (Eigen::Index p = 0; p < n; ++p) {
      for (Eigen::Index j = p + 1; j < n; ++j) Y.col(j) -= L_(j, p) * Y.col(p);
    }
    for (Eigen::Index p = n - 1; p >= 0; --p) {
      Y.col(p) *= inverse_d_[p];
      for (Eigen::Index j = p + 1; j < n; ++j) Y.col(p) -= L_(j, p) * Y.col(j);
    }
  }

 private:
  Matrix L_;  // strictly lower part; zero elsewhere
  Vector inverse_d_;
};

/// Data of one body at one pose, with its velocities before and after the step.
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
struct ConstraintRowConstants {
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
  Eigen::Matrix<double, kV, Eigen::Dynamic> E_p, P_p;  ///< like E_q, P_q, but by free parameters
  Eigen::Matrix<double, kC, Eigen::Dynamic> s_p, C_p;  ///< like s_q, C_q, but by free parameters

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

/// Returns the load-dependent part of the dry friction bound, rμ (|λ_x| + |λ_y| + |λ_z|) + μ (|λ₄|
/// + |λ₅|) [N·m·s]. The multipliers λ are impulses in the joint frame [Mar, eq. F.4].
inline double load_friction_bound(const JointParameterValues& values, const JointGeometry& geometry,
                                  const Eigen::Matrix<double, 5, 1>& lambda) {
  const Eigen::Vector3d force = lambda.head<3>();
  return values.load_friction *
             (std::abs(geometry.x_b.dot(force)) + std::abs(geometry.y_b.dot(force)) +
              std::abs(geometry.z_b.dot(force))) +
         values.load_friction_angular * (std::abs(lambda[3]) + std::abs(lambda[4]));
}

/// Gradient of `load_friction_bound` with respect to the multipliers and the rotation of body b.
struct LoadFrictionGradient {
  Eigen::Matrix<double, 5, 1> along_multipliers;
  Eigen::Vector3d along_turn;
};

inline LoadFrictionGradient load_friction_gradient(const JointParameterValues& values,
                                                   const JointGeometry& geometry,
                                                   const Eigen::Matrix<double, 5, 1>& lambda) {
  const auto sign = [](double x) { return x < 0.0 ? -1.0 : 1.0; };
  const Eigen::Vector3d force = lambda.head<3>();
  LoadFrictionGradient gradient;
  gradient.along_multipliers.setZero();
  gradient.along_turn.setZero();
  for (const Eigen::Vector3d* axis : {&geometry.x_b, &geometry.y_b, &geometry.z_b}) {
    const double scale = values.load_friction * sign(axis->dot(force));
    gradient.along_multipliers.head<3>() += scale * *axis;
    gradient.along_turn += scale * axis->cross(force);  // (δψ × axis)·force
  }
  gradient.along_multipliers[3] = values.load_friction_angular * sign(lambda[3]);
  gradient.along_multipliers[4] = values.load_friction_angular * sign(lambda[4]);
  return gradient;
}

/// Angle and control of a joint axis during one step.
struct AxisInputs {
  double angle;                ///< joint angle θ [rad]
  double control;              ///< mean control over the step
  double control_delay_slope;  ///< derivative of the control by the input delay [unit/s]
};

/// Returns the derivative of the axis impulse T with respect to a joint parameter, at fixed
/// velocities and multipliers.
inline double axis_impulse_derivative(JointParameter quantity, const JointParameterValues& values,
                                      const JointTerms& terms, const AxisInputs& drive,
                                      const Eigen::Matrix<double, 5, 1>& lambda, double h) {
  const double omega_squared = terms.omega * terms.omega;
  const double decay = stribeck_decay(values.stribeck_rate, terms.omega);
  switch (quantity) {
    case JointParameter::kViscous:
      return -h * terms.omega_next;
    case JointParameter::kQuadraticDrag:
      return -h * std::abs(terms.omega) * terms.omega_next;
    case JointParameter::kCoulombTorque:
      return -h * terms.sat;
    case JointParameter::kStribeckTorque:
      return -h * decay * terms.sat;
    case JointParameter::kStribeckRate:
      return h * values.stribeck_torque * omega_squared * decay * terms.sat;
    case JointParameter::kLoadFriction: {
      JointParameterValues unit{};
      unit.load_friction = 1.0;
      return -terms.sat * load_friction_bound(unit, terms.geometry, lambda);
    }
    case JointParameter::kLoadFrictionAngular:
      return -terms.sat * (std::abs(lambda[3]) + std::abs(lambda[4]));
    case JointParameter::kConstantTorque:
      return h;
    case JointParameter::kStiffness:
      return -h * wrap_angle_difference(drive.angle - values.rest_angle);
    case JointParameter::kRestAngle:
      return h * values.stiffness;
    case JointParameter::kMotorGain:
      return h * (drive.control - values.back_emf * terms.omega_next);
    case JointParameter::kShaftInertia:
      return terms.omega - terms.omega_next;
    case JointParameter::kBackEmf:
      return -h * values.motor_gain * terms.omega_next;
    case JointParameter::kInputDelay:
      return h * values.motor_gain * drive.control_delay_slope;
    default:
      return 0.0;  // points affect the rows, encoder offsets the observations
  }
}

}  // namespace estimator
