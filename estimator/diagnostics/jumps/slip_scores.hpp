#pragma once

#include <optional>
#include <string>
#include <vector>

#include "estimator/fit/physical/shooting/shooting_problem.hpp"

namespace estimator {

/// A possible encoder slip that a fit did not include, and its predicted cost reduction.
struct SlipScore {
  int segment = 0, sensor = 0, row = 0;  ///< position of the first shifted reading
  double size = 0.0;                     ///< size with the largest gain [rad or m]
  double gain = 0.0;                     ///< reduction of the whitened cost after re-optimisation
};

/// Returns the encoder slip that would reduce the cost of a fit most, to first order, among all
/// rows of all encoders. Uses the score test [Rao48], which accounts for states and parameters that
/// have absorbed part of the slip. Let c be the derivative of the residuals r with respect to the
/// slip's size, and P the projection onto the complement of the states' and parameters' Jacobian.
/// The gain is (cᵀP r)²/(cᵀP c) at the size −cᵀP r/(cᵀP c).
/// @param fit       the fitted problem at its optimum
/// @param segments  the segments fitted
/// @param sources   recording of each segment; a slip lasts to the end of its recording
std::optional<SlipScore> likeliest_slip(const ShootingProblem& fit,
                                        const std::vector<Segment>& segments,
                                        const std::vector<std::string>& sources,
                                        const ShootingGrid& grid);

}  // namespace estimator
