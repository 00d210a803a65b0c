#pragma once

#include <optional>
#include <string>
#include <vector>

#include "estimator/fit/physical/shooting_problem.hpp"

namespace estimator {

/// A slip that a fit did not include, and its predicted cost reduction.
struct SlipScore {
  int segment = 0, sensor = 0, row = 0;  ///< first shifted reading
  double size = 0.0;                     ///< with the largest gain [rad or m]
  double gain = 0.0;                     ///< reduction of the whitened cost after re-optimisation
};

/// Returns the slip, at any row of any encoder, that reduces the cost of a fit most, to first
/// order. This is the score test [Rao48], which accounts for states and parameters that have
/// absorbed part of the slip. With c the derivative of the residuals r with respect to the slip's
/// size and P the projection onto the complement of the states' and parameters' Jacobian, the gain
/// is (cᵀP r)²/(cᵀP c) at size −cᵀP r/(cᵀP c).
///
/// @param fit       at its optimum
/// @param segments  the segments fitted
/// @param sources   recording of each segment: a slip lasts to its recording's end
std::optional<SlipScore> likeliest_slip(const ShootingProblem& fit,
                                        const std::vector<Segment>& segments,
                                        const std::vector<std::string>& sources,
                                        const ShootingGrid& grid);

}  // namespace estimator
