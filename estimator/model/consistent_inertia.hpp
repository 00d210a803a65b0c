#pragma once

#include <Eigen/Core>

namespace estimator {

/// A body counts as flat if its smallest principal second moment is below this fraction of its
/// largest: a sheet a thousandth as thick as it is wide. Estimates stop at this boundary.
inline constexpr double kFlatnessLimit = 1e-6;

/// Lower bound of the smallest principal second moment [kg·m²]. No moment of inertia is below twice
/// this.
inline constexpr double kLeastSecondMoment = 5.001e-10;
inline constexpr double feasibility_boundary(double largest) {
  return largest * kFlatnessLimit > kLeastSecondMoment ? largest * kFlatnessLimit
                                                       : kLeastSecondMoment;
}

/// Whether the inertia about the centre of mass is physically consistent: no principal second
/// moment of Σ = ½ tr(J) 1 − J is negative, and two are positive (a rod's inertia about its axis is
/// not zero).
bool is_physically_consistent(const Eigen::Matrix3d& inertia);

/// Nearest physically consistent inertia [Wen18]. Principal second moments below kFlatnessLimit of
/// the largest, or below those of a grain of a tenth of a millimetre, are raised to that bound. A
/// consistent inertia is returned unchanged.
/// @param mass     [kg]
/// @param inertia  about the centre of mass, symmetric [kg·m²]
Eigen::Matrix3d nearest_consistent_inertia_matrix(double mass, const Eigen::Matrix3d& inertia);

}  // namespace estimator
