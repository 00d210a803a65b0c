#include "service/calibration/rejected_readings.hpp"

#include <algorithm>
#include <cmath>

namespace service {
namespace {

using estimator::Recording;
using estimator::Segment;

/// Returns the row of a segment at a time; −1 if the segment has no row at this time.
Eigen::Index row_at(const Segment& segment, double time) {
  const int row = segment.first_sample_from(time - segment.start);
  if (row < 0 || row >= segment.sample_count()) return -1;
  const double slack = estimator::kSampleTolerance * segment.period;
  return std::abs(segment.start + segment.time(row) - time) <= slack ? row : -1;
}

/// Checks whether a reading is missing in all segments. Repairs split segments but remove no rows.
bool is_gone(const Recording& repaired, double time, Eigen::Index sensor) {
  return std::ranges::none_of(repaired.segments, [&](const Segment& segment) {
    const Eigen::Index row = row_at(segment, time);
    return row >= 0 && std::isfinite(segment.angles(row, sensor));
  });
}

}  // namespace

std::vector<RejectedReading> rejected_readings(const std::vector<Recording>& read,
                                               const std::vector<Recording>& repaired) {
  std::vector<RejectedReading> held;
  for (std::size_t r = 0; r < std::min(read.size(), repaired.size()); ++r) {
    for (const Segment& segment : read[r].segments) {
      for (Eigen::Index row = 0; row < segment.angles.rows(); ++row) {
        const double time = segment.start + segment.time(row);
        for (Eigen::Index sensor = 0; sensor < segment.angles.cols(); ++sensor) {
          const double value = segment.angles(row, sensor);
          if (!std::isfinite(value) || !is_gone(repaired[r], time, sensor)) continue;
          held.push_back({read[r].name, static_cast<int>(sensor), time, value});
        }
      }
    }
  }
  return held;
}

}  // namespace service
