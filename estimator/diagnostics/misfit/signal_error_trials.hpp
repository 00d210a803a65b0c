#pragma once

#include <vector>

#include "estimator/diagnostics/misfit/misfit_trials.hpp"

// Causes of a misfit in the recorded signals. Each function adds the causes that improve the fit.

namespace estimator {

/// Tries motor commands that act earlier or later than recorded.
void try_delays(const MisfitProblem& on, std::vector<Cause>& causes);

/// Tries motor commands clipped at some level.
void try_clipped_commands(const MisfitProblem& on, std::vector<Cause>& causes);

/// Tries time stamps of a clock that is fast or slow.
void try_clock(const MisfitProblem& on, std::vector<Cause>& causes);

/// Tries readings clipped at an end of an encoder's range.
void try_clipped_angles(const MisfitProblem& on, const std::vector<Recording>& recordings,
                        std::vector<Cause>& causes);

}  // namespace estimator
