#pragma once

#include "estimator/fit/physical/shooting/shooting_problem.hpp"

namespace estimator {

/// Largest number of times that a fit continues after `repair_misplaced_nodes` has moved nodes.
inline constexpr int kNodeRepairRounds = 4;

/// Repairs misplaced shooting nodes of mechanisms with end stops. A node on the wrong side of an
/// impact remains there in a fit, since no derivative contains the jump of the rates. Each node is
/// moved to the simulated end of the previous interval if that lowers the cost.
///
/// @return whether any node was moved, so that another solve may improve the fit
bool repair_misplaced_nodes(ShootingProblem& problem);

}  // namespace estimator
