#pragma once

#include <vector>

#include "estimator/signal/time_series.hpp"

namespace service {

/// Replaces all periods within kPeriodToleranceRelative of the first segment's by that period.
/// Periods of one rig differ by parts per million between recordings, since each corrects the
/// unit's clock by its own measurement. A sample moves by at most that share of the time since its
/// segment's start.
void unify_periods(std::vector<estimator::Recording>& recordings);

/// Largest relative difference between two measurements of one crystal, minutes apart.
inline constexpr double kPeriodToleranceRelative = 2e-5;

}  // namespace service
