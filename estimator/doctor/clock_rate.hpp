#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A mechanism in the seconds of a clock that may be fast: at a rate of 1 + ε, whatever has the
/// unit sⁿ reads (1 + n ε) times what it is. Gravity and all other quantities that are kept follow
/// from ε by ties; those that are free are free in the clock's seconds, too, and lose their priors.
/// So ε is a parameter like any other, with derivatives and a deviation, and where free parameters
/// take it up it is a null direction. To first order; delays, of a few milliseconds, are let be.
struct ClockedMechanism {
  Mechanism mechanism;
  int rate = -1;  ///< index of ε, the last parameter, free and zero
};
ClockedMechanism with_clock_rate(const Mechanism& mechanism);

/// Values of free parameters that were estimated in a clock's seconds, in seconds.
/// @param clocked    of the build of `with_clock_rate(mechanism)`
/// @param mechanism  takes them
void take_from_clock(const ClockedMechanism& clocked, Mechanism& mechanism);

/// Recordings with times as a clock of the rate 1 + ε would have been right.
std::vector<Recording> without_clock_error(std::vector<Recording> recordings, double rate);

}  // namespace estimator
