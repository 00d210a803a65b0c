#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Prior on a body's inertia with the CAD values as mean, independent of frame and units. With the
/// pseudo-inertia P of the body and P₀ from CAD the cost is
///
///   2/s² D,   D = tr(P₀⁻¹P) − log det(P₀⁻¹P) − 4,
///
/// where s is Body::cad_uncertainty. Near the CAD values it is ((P − P₀)/(s P₀))² along each
/// principal axis [Wen18]. It is infinite for a physically inconsistent body.
///
/// D is a sum of smooth squares, Σ φ(T_ii)² + Σ T_ij², with P = U Uᵀ (U upper triangular), T =
/// U₀⁻¹U and φ(t)² = t² − 2 log t − 1. Relative to the centre of mass c₀ from CAD, U consists of
/// √m, √m (c − c₀) and the Cholesky factor of the second moments Σ about the centre c.
class InertiaPrior {
 public:
  static constexpr int kRows = 10;  ///< number of residuals
  using Residual = Eigen::Matrix<double, kRows, 1>;
  /// Derivatives by mass m, centre of mass c_x, c_y, c_z and moments J_xx, J_yy, J_zz, J_xy, J_xz,
  /// J_yz.
  using Sensitivities = Eigen::Matrix<double, kRows, 10>;

  /// @param body  index of a body with physically consistent CAD values
  InertiaPrior(const Mechanism& mechanism, int body);

  int body() const { return body_; }
  /// Returns the indices of the ten inertia parameters. −1 stands for a coordinate of the centre of
  /// mass that is no parameter, and so cannot deviate from CAD.
  const std::array<int, 10>& parameters() const { return parameters_; }

  /// Returns residuals whose squares sum to the cost; nullopt if the body is physically
  /// inconsistent.
  std::optional<Residual> residual(const Mechanism& mechanism) const;
  /// Returns ∂residual/∂parameters of a physically consistent body.
  Sensitivities slopes(const Mechanism& mechanism) const;

 private:
  struct Values {
    double mass;
    Eigen::Vector3d shift;  // offset of the centre of mass from CAD
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

/// Checks that the CAD values of a body with a CAD prior can be its mean.
/// @throws std::invalid_argument if they cannot
void check_cad_prior(const Mechanism& mechanism, int body);

}  // namespace estimator
