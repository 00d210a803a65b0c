#pragma once

#include "estimator/fit/physical/shooting_problem.hpp"

namespace estimator {

/// Times that a fit goes on from where `untangle` has put nodes, at most.
inline constexpr int kUntangleRounds = 4;

/// Puts nodes of mechanisms with end stops where the motion before them ends, one by one, where
/// that lowers the cost: a node on the wrong side of an impact is held there by a jump of the rates
/// that no derivative sees.
///
/// @return whether any was moved, so that solving again may lead further
bool untangle(ShootingProblem& problem);

}  // namespace estimator
