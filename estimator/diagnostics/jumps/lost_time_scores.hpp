#pragma once

#include <optional>
#include <vector>

#include "estimator/fit/physical/shooting/shooting_problem.hpp"

namespace estimator {

/// A possible loss of time that a fit did not include, and its predicted cost reduction.
struct LostTimeScore {
  int segment = 0, row = 0;  ///< position of the first row after the loss
  double rows = 0.0;         ///< number of lost rows, > 0
  double gain = 0.0;         ///< cost reduction, in variances of the remaining residuals
};

/// Returns the row before which a loss of time would reduce the cost of a fit most. From this row
/// on, every encoder is ahead by its speed times the lost time.
///
/// Free states absorb such a jump at the next shooting node. The motion is therefore simulated from
/// nodes two and three times as far apart. The residuals between two of these nodes contain the
/// jump, and the effect of state errors, which is modelled as one parabola in time per sensor.
/// @param fit       the fitted problem of states and parameters at its optimum
/// @param segments  the segments fitted
std::optional<LostTimeScore> likeliest_lost_time(const ShootingProblem& fit,
                                                 const std::vector<Segment>& segments,
                                                 const ShootingGrid& grid);

}  // namespace estimator
