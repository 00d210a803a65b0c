#pragma once

#include <optional>
#include <vector>

#include "estimator/fit/physical/shooting_problem.hpp"

namespace estimator {

/// A loss of time that a fit did not include, and its predicted cost reduction.
struct LostTimeScore {
  int segment = 0, row = 0;  ///< first row after the loss
  double rows = 0.0;         ///< lost rows, > 0
  double gain = 0.0;         ///< cost reduction, in variances of the remaining residuals
};

/// Returns the row before which a loss of time reduces the cost most: from there on, every encoder
/// reads more by its speed times one lost time.
///
/// Free states absorb such a jump at the next node. Therefore the motion is simulated from nodes
/// two and three times as far apart. The residuals between two of these contain the jump, plus the
/// effect of state errors, modelled as one parabola in time per sensor.
///
/// @param fit       of states and parameters, at its optimum
/// @param segments  the segments fitted
std::optional<LostTimeScore> likeliest_lost_time(const ShootingProblem& fit,
                                                 const std::vector<Segment>& segments,
                                                 const ShootingGrid& grid);

}  // namespace estimator
