#pragma once

#include <Eigen/Core>
#include <string_view>

#include "estimator/model/moments.hpp"

namespace estimator {

/// Σ = ½ tr(J) 1 − J, and back: J = tr(Σ) 1 − Σ.
Eigen::Matrix3d second_moments(const Eigen::Matrix3d& inertia);
Eigen::Matrix3d inertia_from(const Eigen::Matrix3d& second_moments);

/// U, upper triangular, with U Uᵀ = Σ, which must be positive definite.
Eigen::Matrix3d upper_cholesky(const Eigen::Matrix3d& sigma);

/// Coordinates in which the inertia of a body is estimated.
enum class InertiaChart {
  kLogCholesky,  ///< every body that can exist, once [Rucker & Wensing 2022]
  kExponentialEigenvalue,
  kEntries,  ///< moments and mass themselves: an estimate may be no possible body
};

std::string_view to_string(InertiaChart chart);

/// The second moments Σ of a body about its centre of mass in coordinates without constraints: any
/// are those of a body that can exist.
///
/// Log-Cholesky: Σ = U Uᵀ with the diagonal e^{d₁}, e^{d₂}, e^{d₃} of U, and above it s₁₂, s₁₃,
/// s₂₃. With the mass e^{2α} and the centre these are the ten coordinates of [Rucker & Wensing
/// 2022] for the pseudo-inertia but for the scale e^α of U: any of mass, centre and moments can be
/// held without the others noticing.
///
/// Exponential-eigenvalue: Σ = R diag(e^{σ}) Rᵀ with R = exp([ω]×) R₀, R₀ the principal axes of
/// where the chart was laid [MTM, eqs. 44–54]. Where principal moments agree ω has no effect.
///
/// A step (`moved`) that a linear model asks for lets a second moment grow by as much as that has
/// it, and shrink by a factor: an exponential would overshoot upward, a sum go through zero
/// downward.
class SecondMomentChart {
 public:
  /// Coordinates: three logarithms, then as many others as products of inertia vary.
  /// @param products  which of J_xy, J_xz, J_yz vary: all, one or none; the others are zero
  /// @param at        moments of a possible body, where the chart is laid
  SecondMomentChart(InertiaChart kind, const Eigen::Array<bool, 3, 1>& products, const Moments& at);

  int size() const { return size_; }
  /// Those of `at`; second moments below the floor are raised to it.
  const Eigen::VectorXd& start() const { return start_; }
  /// Least coordinates: those of the border, as flat as an estimate goes.
  Eigen::VectorXd lower() const;

  Moments moments(const Eigen::VectorXd& coordinates) const;
  /// ∂moments/∂coordinates, 6 × size.
  Eigen::MatrixXd slopes(const Eigen::VectorXd& coordinates) const;

  /// Where a step along the tangent leads.
  Eigen::VectorXd moved(const Eigen::VectorXd& coordinates, const Eigen::VectorXd& step) const;

 private:
  Eigen::Matrix3d triangle(const Eigen::VectorXd& coordinates) const;
  Eigen::Matrix3d rotation(const Eigen::VectorXd& coordinates) const;
  /// By how much of a unit its logarithm grows with a coordinate: a second moment's is 2 d or σ.
  double logarithms() const { return kind_ == InertiaChart::kLogCholesky ? 2.0 : 1.0; }

  InertiaChart kind_;
  Eigen::Array<bool, 3, 1> products_;
  int size_;
  double floor_;  // of second moments [kg·m²]
  Eigen::Matrix3d axes_;
  Eigen::VectorXd start_;
};

/// The next value of a quantity that is above zero, `value`, after its logarithm was to grow by
/// `step`: value (1 + step), as a linear model has it, or value e^step where it shrinks.
double grown(double value, double step);

}  // namespace estimator
