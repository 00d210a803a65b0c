#pragma once

#include <optional>
#include <vector>

#include "estimator/diagnostics/misfit/misfit_trials.hpp"

// Causes of a misfit in geometry and force laws. Each function adds the causes that improve the
// fit.

namespace estimator {

/// Fixes the moments of inertia that are at a bound.
/// @return index of the first fixed parameter; −1 if none
int fix_moments_at_bounds(Mechanism& mechanism);

/// Tries fixed joint distances at other values.
void try_lengths(const MisfitProblem& on, std::vector<Cause>& causes);

/// Tries fixed motor gains at other values.
void try_gains(const MisfitProblem& on, std::vector<Cause>& causes);

/// Tries joint position coordinates with the opposite sign.
void try_signs(const MisfitProblem& on, std::vector<Cause>& causes);

/// Tries friction terms that the description lacks.
void try_friction(const MisfitProblem& on, std::vector<Cause>& causes);

/// Tries air drag on bodies that are carried by other bodies.
void try_air(const MisfitProblem& on, std::vector<Cause>& causes);

/// Fits all friction terms that the description lacks. Returns nullopt if this does not improve the
/// fit. The finding of the result is empty.
std::optional<Cause> fit_all_friction(const MisfitProblem& on);

}  // namespace estimator
