#include "service/recordings/joined_segments.hpp"

#include <cmath>

namespace service {
namespace {

/// Returns the sampling period of the first segment; 0 if there are no segments.
double first_period(const std::vector<estimator::Recording>& recordings) {
  for (const estimator::Recording& recording : recordings) {
    if (!recording.segments.empty()) return recording.segments.front().period;
  }
  return 0.0;
}

}  // namespace

void unify_periods(std::vector<estimator::Recording>& recordings) {
  const double period = first_period(recordings);
  for (estimator::Recording& recording : recordings) {
    for (estimator::Segment& segment : recording.segments) {
      if (std::abs(segment.period - period) <= kPeriodToleranceRelative * period)
        segment.period = period;
    }
  }
}

}  // namespace service
