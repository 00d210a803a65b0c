#pragma once

#include <Eigen/Core>
#include <Eigen/LU>

#include "estimator/model/mechanism.hpp"
#include "tests/estimator/dynamics/dense_step.hpp"

namespace estimator {

/// The paper's pair formulation [Mar, eqs. 2.24–2.28] with METHOD section 3's corrections: per
/// joint ten normal rows (g ≥ 0, −g ≥ 0, point rows in joint axes), two tangential rows ±Ḡ and one
/// bound,
///
///   w_n = ±(A v⁺ − c) + Σ λ_n,  w_t = ±Ḡ v⁺ + Σ_t λ_t + σ,  w_σ = B_0 + U λ_n − 1ᵀ λ_t,
///
/// U repeated for the pair. v⁺ = M̂⁻¹ (p + Aᵀ λ + Ḡᵀ λ_f) is substituted.
struct PairFormulation {
  Eigen::MatrixXd M_inverse;
  Eigen::MatrixXd rows;  // 13n × 6b, zero rows for σ
  Eigen::MatrixXd H;     // of the complementarity problem w = H λ + q
  Eigen::VectorXd q;
};

/// @param sigma_t Σ_t of each joint [1/(kg·m²)]
inline PairFormulation make_pair_formulation(const Mechanism& mechanism, const State& state,
                                             const DenseStep& step,
                                             const Eigen::VectorXd& sigma_t) {
  const ModelValues values = unpack(mechanism);
  const int n = mechanism.joint_count();
  PairFormulation pair;
  pair.M_inverse = step.M_hat.inverse();
  pair.rows = Eigen::MatrixXd::Zero(13 * n, step.M_hat.rows());
  Eigen::VectorXd offset = Eigen::VectorXd::Zero(13 * n);
  Eigen::MatrixXd regularisation = Eigen::MatrixXd::Zero(13 * n, 13 * n);
  for (int j = 0; j < n; ++j) {
    const Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    const JointValues& joint_values = values.joints[static_cast<std::size_t>(j)];
    Eigen::Matrix<double, 5, 5> into_joint_axes = Eigen::Matrix<double, 5, 5>::Identity();
    into_joint_axes.topLeftCorner<3, 3>() =
        (state.poses[static_cast<std::size_t>(joint.body_b)].e.toRotationMatrix() * joint.frame_b)
            .transpose();
    const Eigen::MatrixXd G = into_joint_axes * step.A.middleRows(5 * j, 5);
    const Eigen::VectorXd c = into_joint_axes * step.c.segment<5>(5 * j);
    const int at = 13 * j;
    pair.rows.middleRows(at, 5) = G;
    pair.rows.middleRows(at + 5, 5) = -G;
    pair.rows.row(at + 10) = step.A_bar.row(j);
    pair.rows.row(at + 11) = -step.A_bar.row(j);
    offset.segment<5>(at) = -c;
    offset.segment<5>(at + 5) = c;
    offset[at + 12] = step.dry_bound[j];
    for (int row = 0; row < 5; ++row) {
      const double U = row < 3 ? joint_values.load_friction : joint_values.load_friction_angular;
      for (const int k : {at + row, at + 5 + row}) {
        regularisation(k, k) = step.sigma[5 * j + row];
        regularisation(at + 12, k) = U;
      }
    }
    for (const int k : {at + 10, at + 11}) {
      regularisation(k, k) = sigma_t[j];
      regularisation(k, at + 12) = 1.0;
      regularisation(at + 12, k) = -1.0;
    }
  }
  pair.H = pair.rows * pair.M_inverse * pair.rows.transpose() + regularisation;
  pair.q = pair.rows * (pair.M_inverse * step.p) + offset;
  return pair;
}

/// Sets one quantity of every joint.
inline void set_all(Mechanism& mechanism, JointQuantity quantity, double value) {
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    mechanism.joint_parameter(j, quantity).value = value;
  }
}

/// Returns the mechanism with every kind of friction on every joint, and a motor with shaft inertia
/// and back-EMF on the first joint.
inline Mechanism with_friction(Mechanism mechanism, double load_friction,
                               double load_friction_angular) {
  set_all(mechanism, JointQuantity::kViscous, 1e-3);
  set_all(mechanism, JointQuantity::kQuadraticDrag, 2e-4);
  set_all(mechanism, JointQuantity::kCoulombTorque, 6e-3);
  set_all(mechanism, JointQuantity::kStribeckTorque, 3e-3);
  set_all(mechanism, JointQuantity::kStribeckRate, 2.0);
  set_all(mechanism, JointQuantity::kLoadFriction, load_friction);
  set_all(mechanism, JointQuantity::kLoadFrictionAngular, load_friction_angular);
  mechanism.joint_parameter(0, JointQuantity::kShaftInertia).value = 4e-4;
  mechanism.joint_parameter(0, JointQuantity::kMotorGain).value = 0.07;
  mechanism.joint_parameter(0, JointQuantity::kBackEmf).value = 0.05;
  return mechanism;
}

}  // namespace estimator
