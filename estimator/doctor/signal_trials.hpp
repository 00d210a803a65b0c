#pragma once

#include <vector>

#include "estimator/doctor/misfit_trials.hpp"

// Causes of a misfit in what was recorded. Each trial adds those that help.

namespace estimator {

/// A motor's command that acts earlier or later than it is recorded.
void try_delays(const MisfitCase& on, std::vector<Cause>& causes);

/// A motor's command that acts no further than to some level.
void try_clipped_commands(const MisfitCase& on, std::vector<Cause>& causes);

/// A clock of the time stamps that is fast or slow.
void try_clock(const MisfitCase& on, std::vector<Cause>& causes);

/// Readings that stay at an end of an encoder's range.
void try_clipped_angles(const MisfitCase& on, const std::vector<Recording>& recordings,
                        std::vector<Cause>& causes);

}  // namespace estimator
