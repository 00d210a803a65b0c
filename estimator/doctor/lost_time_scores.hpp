#pragma once

#include <optional>
#include <vector>

#include "estimator/fit/physical/shooting_problem.hpp"

namespace estimator {

/// Lost time that a fit was made without, by what it would gain.
struct LostTimeScore {
  int segment = 0, row = 0;  ///< the first row behind it
  double rows = 0.0;         ///< that are lost, > 0
  double gain = 0.0;         ///< of the cost, in variances of what is left beside
};

/// Of all rows, the one ahead of which lost time explains most: from there on every encoder reads
/// further on by its own speed times one and the same time.
///
/// States that are free to follow take up a jump of theirs at the next node, whichever it is. So
/// the motion is simulated from nodes that are two and three times as far apart, and what is left
/// of the readings between two of them is that jump, beside what the states there may be off, a
/// parabola in time for each sensor.
///
/// @param fit       jointly of states and parameters, at its optimum
/// @param segments  those that it was made of
std::optional<LostTimeScore> likeliest_lost_time(const ShootingProblem& fit,
                                                 const std::vector<Segment>& segments,
                                                 const ShootingGrid& grid);

}  // namespace estimator
