#pragma once

#include <vector>

#include "estimator/doctor/misfit_trials.hpp"

namespace estimator {

/// Pieces to look for creep in where lively ones show no cause: it shows while joints all but rest,
/// over seconds.
inline constexpr ExcerptBudget kCreepBudget = {
    .duration = 30.0, .piece = 15.0, .period = 0.01, .rows = 2500};

/// Dry friction that creeps where the description has it hold, at the creep speed that explains
/// most; none where no joint can stick.
void try_creep(const MisfitCase& on, std::vector<Cause>& causes);

}  // namespace estimator
