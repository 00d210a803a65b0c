#pragma once

#include <vector>

#include "estimator/signal/time_series.hpp"

namespace service {

/// Recordings of one rig carry periods that differ by parts in a million: each corrects the unit's
/// clock by its own measurement of it. Gives all segments within kPeriodSpread of the first one its
/// period, which displaces no sample by more than that part of the time since its segment's start;
/// others are left alone.
void share_period(std::vector<estimator::Recording>& recordings);

/// A time step asked for in nominal terms, as the multiple or fraction of the samples' corrected
/// period that it means: 0.002 is two periods of 1.000035 ms. Steps further off than kClockError
/// come back as they are, and so does 0, "choose".
double snap_step(double step, const std::vector<estimator::Recording>& recordings);

/// What two measurements of one crystal, minutes apart, may differ by.
inline constexpr double kPeriodSpread = 2e-5;

/// What a unit's crystal may be off.
inline constexpr double kClockError = 5e-4;

}  // namespace service
