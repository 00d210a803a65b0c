#pragma once

#include <Eigen/Core>

#include "estimator/model/moments.hpp"

namespace estimator {

/// Convert an inertia J to second moments, Σ = ½ tr(J) 1 − J, and back, J = tr(Σ) 1 − Σ.
Eigen::Matrix3d inertia_to_second_moments(const Eigen::Matrix3d& inertia);
Eigen::Matrix3d second_moments_to_inertia(const Eigen::Matrix3d& second_moments);

/// Returns the upper triangular matrix U with U Uᵀ = Σ. Σ must be positive definite.
Eigen::Matrix3d upper_cholesky(const Eigen::Matrix3d& sigma);

/// Coordinates in which the inertia of a body is estimated.
enum class InertiaParameterization {
  kLogCholesky,  ///< log-Cholesky: covers every physically consistent body exactly once [Ruc22]
  kExponentialEigenvalue,
  kEntries,  ///< moments and mass: an estimate may be physically inconsistent
};

/// Parameterization of a body's second moments Σ about its centre of mass by unconstrained
/// coordinates. All coordinates give a physically consistent body.
///
/// Log-Cholesky: Σ = U Uᵀ. The upper triangular U has the diagonal e^{d₁}, e^{d₂}, e^{d₃}, and s₁₂,
/// s₁₃, s₂₃ above it. With the mass e^{2α} and the centre of mass, these are the ten coordinates of
/// [Ruc22] for the pseudo-inertia, without the scale e^α of U. The mass, centre or moments can thus
/// be fixed.
///
/// Exponential-eigenvalue: Σ = R diag(e^{σ}) Rᵀ with the rotation R = exp([ω]×) R₀. R₀ are the
/// principal axes at construction [MTM, eqs. 44–54]. ω has no effect if principal moments are
/// equal.
///
/// A linearized step (`moved`) increases a second moment additively and decreases it by a factor.
/// An exponential would overshoot upward, and a sum would become negative downward.
class SecondMomentParameterization {
 public:
  /// Constructs a parameterization with three logarithms as coordinates, followed by one coordinate
  /// for each product of inertia that varies.
  /// @param products  which of J_xy, J_xz, J_yz vary: all, one or none; the others are zero
  /// @param at        physically consistent moments; the principal axes there are R₀
  SecondMomentParameterization(InertiaParameterization kind,
                               const Eigen::Array<bool, 3, 1>& products, const Moments& at);

  int size() const { return size_; }
  /// Returns the coordinates of the moments of inertia that were given at construction. Second
  /// moments below the feasibility boundary are raised to it.
  const Eigen::VectorXd& start() const { return start_; }
  /// Returns the lower bounds of the coordinates, at the feasibility boundary
  /// (feasibility_boundary).
  Eigen::VectorXd lower() const;

  Moments moments_of_inertia(const Eigen::VectorXd& coordinates) const;
  /// Returns the derivatives of the moments with respect to the coordinates, 6 × size.
  Eigen::MatrixXd moment_derivatives(const Eigen::VectorXd& coordinates) const;

  /// Returns the coordinates after a linearized step, as described above.
  Eigen::VectorXd moved(const Eigen::VectorXd& coordinates, const Eigen::VectorXd& step) const;

 private:
  Eigen::Matrix3d cholesky_triangle(const Eigen::VectorXd& coordinates) const;
  Eigen::Matrix3d principal_axes(const Eigen::VectorXd& coordinates) const;
  /// Returns the derivative of a second moment's logarithm with respect to its coordinate (d or σ).
  double logarithm_derivative() const {
    return kind_ == InertiaParameterization::kLogCholesky ? 2.0 : 1.0;
  }

  InertiaParameterization kind_;
  Eigen::Array<bool, 3, 1> products_;
  int size_;
  double floor_;  // of second moments [kg·m²]
  Eigen::Matrix3d axes_;
  Eigen::VectorXd start_;
};

/// Returns a positive quantity after a step of its logarithm: value (1 + step) for a positive step,
/// value e^step for a negative one.
double apply_logarithm_step(double value, double step);

/// Lower bound of the ratio of a body's smallest to its largest principal second moment. A body
/// with a smaller ratio counts as flat. Example: a sheet a thousandth as thick as it is wide.
inline constexpr double kFlatnessLimit = 1e-6;

/// Lower bound of a body's smallest principal second moment [kg·m²]. Every moment of inertia is at
/// least twice this.
inline constexpr double kLeastSecondMoment = 5.001e-10;
inline constexpr double feasibility_boundary(double largest) {
  return largest * kFlatnessLimit > kLeastSecondMoment ? largest * kFlatnessLimit
                                                       : kLeastSecondMoment;
}

/// Returns whether an inertia J about the centre of mass is physically consistent. No principal
/// value of the second moments Σ = ½ tr(J) 1 − J may be negative, and two must be positive, since a
/// rod's inertia about its axis is not zero.
bool is_physically_consistent(const Eigen::Matrix3d& inertia);

/// Returns the nearest physically consistent inertia [Wen18]. Principal second moments are raised
/// to kFlatnessLimit times the largest, and at least to those of a grain of 0.1 mm. A consistent
/// inertia is returned unchanged.
/// @param mass     mass of the body [kg]
/// @param inertia  symmetric, about the centre of mass [kg·m²]
Eigen::Matrix3d nearest_consistent_inertia_matrix(double mass, const Eigen::Matrix3d& inertia);

}  // namespace estimator
