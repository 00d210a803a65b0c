#pragma once

#include <Eigen/Core>

namespace estimator {

/// A body is as good as flat where its least principal second moment is below this share of its
/// largest: a sheet a thousandth as thick as it is wide. An estimate goes no farther.
inline constexpr double kBorderShare = 1e-6;

/// The least principal second moment of a body whose largest is this [kg·m²]: on the border of what
/// bodies can be, as far as an estimate goes. No moment of inertia is below twice the constant.
inline constexpr double kLeastSecondMoment = 5.001e-10;
inline constexpr double border_of(double largest) {
  return largest * kBorderShare > kLeastSecondMoment ? largest * kBorderShare : kLeastSecondMoment;
}

/// Whether some distribution of mass has this inertia about its centre: none of the second moments
/// Σ = ½ tr(J) 1 − J lies below zero, and two lie above (a rod's inertia about itself is not zero).
bool is_possible_inertia(const Eigen::Matrix3d& inertia);

/// An inertia that a body can have, for one that it cannot: principal values of the second moments
/// below kBorderShare of the largest, or below those of a grain of a tenth of a millimetre, are
/// raised to that (Wensing, Kim and Slotine, 2018). A possible inertia is returned as it is.
/// @param mass     [kg]
/// @param inertia  about the centre of mass, symmetric [kg·m²]
Eigen::Matrix3d possible_inertia(double mass, const Eigen::Matrix3d& inertia);

}  // namespace estimator
