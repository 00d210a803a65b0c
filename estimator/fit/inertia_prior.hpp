#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>
#include <string>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Prior toward the inertia from CAD, independent of frame and units. With the pseudo-inertia P of
/// a body and P₀ from CAD the cost is
///
///   2/s² D,   D = tr(P₀⁻¹P) − log det(P₀⁻¹P) − 4,
///
/// where s is Body::cad_uncertainty. Near the CAD values it is ((P − P₀)/(s P₀))² along each
/// principal axis [Wen18]. It is infinite for a physically inconsistent body.
///
/// With P = U Uᵀ, upper triangular, T = U₀⁻¹U and φ(t)² = t² − 2 log t − 1 it is a sum of smooth
/// squares, D = Σ φ(T_ii)² + Σ T_ij². Relative to the centre of mass from CAD, U consists of the
/// Cholesky factor of the second moments Σ about the centre, √m (c − c₀) and √m.
class InertiaPrior {
 public:
  static constexpr int kRows = 10;  ///< residuals
  using Residual = Eigen::Matrix<double, kRows, 1>;
  /// Derivatives by m, c_x, c_y, c_z and the moments J_xx, J_yy, J_zz, J_xy, J_xz, J_yz.
  using Sensitivities = Eigen::Matrix<double, kRows, 10>;

  /// @param body  with physically consistent prior means from CAD
  InertiaPrior(const Mechanism& mechanism, int body);

  int body() const { return body_; }
  /// Indices of the ten parameters; −1 for a coordinate of the centre that is no parameter. Its
  /// deviation from CAD is then zero.
  const std::array<int, 10>& parameters() const { return parameters_; }

  /// Residuals whose squares sum to the cost; nothing for a physically inconsistent body.
  std::optional<Residual> residual(const Mechanism& mechanism) const;
  /// ∂residual/∂parameters, for a physically consistent body.
  Sensitivities slopes(const Mechanism& mechanism) const;

 private:
  struct Values {
    double mass;
    Eigen::Vector3d shift;  // of the centre, relative to CAD
    Eigen::Matrix3d sigma;
  };
  Values values(const Mechanism& mechanism) const;

  int body_;
  std::array<int, 10> parameters_;
  double weight_;  // √2/s
  double mass_;    // from CAD
  Eigen::Vector3d centre_;
  Eigen::Matrix3d unfactor_;  // inverse of the Cholesky factor of the second moments from CAD
};

/// Reason why a body's CAD values cannot be a prior; empty if they can, or if there is no prior.
std::string find_cad_prior_error(const Mechanism& mechanism, int body);

}  // namespace estimator
