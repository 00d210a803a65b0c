#pragma once

#include <optional>
#include <string>
#include <vector>

#include "estimator/fit/physical/shooting_problem.hpp"

namespace estimator {

/// A slip that a fit was made without, by what it would gain.
struct SlipScore {
  int segment = 0, sensor = 0, row = 0;  ///< the first reading that is shifted
  double size = 0.0;                     ///< that gains most [rad or m]
  double gain = 0.0;                     ///< of the whitened cost, states and parameters following
};

/// Of all slips, at any row of any encoder, the one that lowers the cost of a fit most, to first
/// order: the score test [Rao48], which knows how far states and parameters have bent to follow the
/// slip. With c the derivative of the residuals r by its size and P the projection that takes away
/// what states and parameters can do, the gain is (cᵀP r)²/(cᵀP c) at −cᵀP r/(cᵀP c).
///
/// @param fit       at its optimum
/// @param segments  those that it was made of
/// @param sources   the recording of each: a slip lasts to its recording's end
std::optional<SlipScore> likeliest_slip(const ShootingProblem& fit,
                                        const std::vector<Segment>& segments,
                                        const std::vector<std::string>& sources,
                                        const ShootingGrid& grid);

}  // namespace estimator
