#pragma once

#include <vector>

#include "estimator/diagnostics/misfit/misfit_trials.hpp"

namespace estimator {

/// Length and sampling of excerpts for the creep trial, which runs if the most active excerpts show
/// no cause. Creep shows over seconds while joints are almost at rest.
inline constexpr ExcerptBudget kCreepBudget = {
    .duration = 30.0, .piece = 15.0, .period = 0.01, .rows = 2500};

/// Tries friction that creeps at rest instead of sticking: replaces Coulomb friction by its
/// smoothed law, with the transition velocity that fits best. Adds no cause if no joint can stick.
void try_creep(const MisfitProblem& on, std::vector<Cause>& causes);

}  // namespace estimator
