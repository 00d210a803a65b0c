#pragma once

#include <vector>

#include "estimator/diagnostics/misfit_trials.hpp"

namespace estimator {

/// Excerpts for the creep trial, used if the most active excerpts show no cause: creep shows over
/// seconds while joints are almost at rest.
inline constexpr ExcerptBudget kCreepBudget = {
    .duration = 30.0, .piece = 15.0, .period = 0.01, .rows = 2500};

/// Replaces Coulomb friction that holds at rest by its smoothed law, with the transition velocity
/// (transition speed) that fits best. Adds no cause if no joint can stick.
void try_creep(const MisfitProblem& on, std::vector<Cause>& causes);

}  // namespace estimator
