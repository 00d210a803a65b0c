#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A mechanism expressed in the seconds of a clock whose rate is 1 + ε. A quantity with the unit sⁿ
/// reads (1 + n ε) times its true value, to first order in ε. Gravity and all other fixed
/// quantities depend on ε (`ParameterDependency`). Free quantities stay free, in the clock's
/// seconds, and lose their priors. The clock error ε is thus an ordinary parameter with
/// derivatives; if free parameters absorb it, it is not identifiable. Delays, a few milliseconds,
/// are not converted.
struct ClockRateMechanism {
  Mechanism mechanism;
  int rate = -1;  ///< index of ε, the last parameter: free, initially zero
};
ClockRateMechanism with_clock_rate(const Mechanism& mechanism);

/// Converts free parameters that were estimated in a clock's seconds to true seconds.
/// @param clocked    estimate with the structure of `with_clock_rate(mechanism)`
/// @param mechanism  receives the values
void convert_from_clock_seconds(const ClockRateMechanism& clocked, Mechanism& mechanism);

/// Returns recordings with corrected time stamps, for the relative clock rate error `rate`.
std::vector<Recording> correct_clock_error(std::vector<Recording> recordings, double rate);

}  // namespace estimator
