#pragma once

#include <Eigen/Core>

namespace estimator {

/// Ratio of a body's smallest to its largest principal second moment, below which it counts as
/// flat. Example: a sheet a thousandth as thick as it is wide. Estimates do not go below it.
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
