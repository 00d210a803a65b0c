#pragma once

#include <vector>

#include "estimator/signal/time_series.hpp"

namespace service {

/// Recordings of one rig carry periods that differ by parts in a million: each corrects the unit's
/// clock by its own measurement of it. Gives all segments within kPeriodSpread of the first one its
/// period, which displaces no sample by more than that part of the time since its segment's start;
/// others are left alone.
void share_period(std::vector<estimator::Recording>& recordings);

/// What two measurements of one crystal, minutes apart, may differ by.
inline constexpr double kPeriodSpread = 2e-5;

}  // namespace service
