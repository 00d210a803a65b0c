#pragma once

#include <optional>
#include <vector>

#include "estimator/doctor/misfit_trials.hpp"

// Causes of a misfit in the description's geometry and laws. Each trial adds those that help.

namespace estimator {

/// Holds moments of inertia that an estimate has at their bounds.
/// @return the first of them, −1: none
int hold_moments_at_bounds(Mechanism& mechanism);

/// Distances of hinges that are kept at another value than the right one.
void try_lengths(const MisfitCase& on, std::vector<Cause>& causes);

/// Motors' gains that are kept at another value than the right one.
void try_gains(const MisfitCase& on, std::vector<Cause>& causes);

/// Coordinates of hinges with the wrong sign.
void try_signs(const MisfitCase& on, std::vector<Cause>& causes);

/// Parts of friction that the description does not know.
void try_friction(const MisfitCase& on, std::vector<Cause>& causes);

/// What the air does to bodies that move on others.
void try_air(const MisfitCase& on, std::vector<Cause>& causes);

/// All friction that joints may have beside what the description knows, where it leaves less; its
/// finding is empty.
std::optional<Cause> fit_all_friction(const MisfitCase& on);

}  // namespace estimator
