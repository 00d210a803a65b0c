#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>
#include <string>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// A prior toward the inertia of a drawing that depends on neither frame nor unit: with the
/// pseudo-inertia P of a body and P₀ that of its drawing the cost is
///
///   2/s² D,   D = tr(P₀⁻¹P) − log det(P₀⁻¹P) − 4,
///
/// s being Body::drawing_deviation: near the drawing ((P − P₀)/(s P₀))² along each principal axis
/// [Wen18]. No impossible body has a finite one.
///
/// With P = U Uᵀ, upper triangular, T = U₀⁻¹U and φ(t)² = t² − 2 log t − 1 it is a sum of squares,
/// D = Σ φ(T_ii)² + Σ T_ij², each of which is smooth. Seen from the drawing's centre of mass, U has
/// the Cholesky factor of the second moments Σ about the centre, √m (c − c₀) and √m.
class InertiaPrior {
 public:
  static constexpr int kRows = 10;  ///< residuals
  using Residual = Eigen::Matrix<double, kRows, 1>;
  /// Along m, c_x, c_y, c_z and the moments J_xx, J_yy, J_zz, J_xy, J_xz, J_yz.
  using Slopes = Eigen::Matrix<double, kRows, 10>;

  /// @param body  with a drawing, a possible body: means of the parameters' priors
  InertiaPrior(const Mechanism& mechanism, int body);

  int body() const { return body_; }
  /// Indices of the ten parameters; −1: the centre, where the mechanism has no parameter of it. Its
  /// distance from the drawing's then counts as none.
  const std::array<int, 10>& parameters() const { return parameters_; }

  /// Residuals whose squares sum to the cost; nothing where the body is not possible.
  std::optional<Residual> residual(const Mechanism& mechanism) const;
  /// ∂residual/∂parameters, of a possible body.
  Slopes slopes(const Mechanism& mechanism) const;

 private:
  struct Values {
    double mass;
    Eigen::Vector3d shift;  // of the centre, from the drawing's
    Eigen::Matrix3d sigma;
  };
  Values values(const Mechanism& mechanism) const;

  int body_;
  std::array<int, 10> parameters_;
  double weight_;  // √2/s
  double mass_;    // of the drawing
  Eigen::Vector3d centre_;
  Eigen::Matrix3d unfactor_;  // inverse of the Cholesky factor of the drawing's second moments
};

/// Why a body's drawing is none that a prior can have; empty: it is, or there is no prior.
std::string find_drawing_fault(const Mechanism& mechanism, int body);

}  // namespace estimator
