#include "service/recordings/joined_segments.hpp"

#include <cmath>

namespace service {
namespace {

constexpr double kGridTolerance = 0.1;  // largest offset between two segments' grids [periods]

/// Returns the number of rows missing between two segments; −1 if segment `after` does not continue
/// segment `before`.
int missing_between(const estimator::Segment& before, const estimator::Segment& after,
                    const Eigen::RowVectorXd& largest, double read) {
  if (before.period != after.period || !before.times.empty() || !after.times.empty()) return -1;
  const double duration = after.start - before.start - before.duration();
  const double periods = duration / before.period;
  const double missing = std::round(periods) - 1.0;
  if (!(missing >= 1.0) || !(std::abs(periods - std::round(periods)) <= kGridTolerance)) return -1;
  if (!(missing <= read)) return -1;
  const int rows = static_cast<int>(missing);
  const estimator::CommandChange change =
      estimator::command_change_between(before, after, rows, largest);
  return estimator::can_continue_across_gap(duration, missing, change, read) ? rows : -1;
}

/// Returns the sampling period of the first segment; 0 if there are no segments.
double first_period(const std::vector<estimator::Recording>& recordings) {
  for (const estimator::Recording& recording : recordings) {
    if (!recording.segments.empty()) return recording.segments.front().period;
  }
  return 0.0;
}

}  // namespace

MissingRowCounts join_segments_across_gaps(std::vector<estimator::Segment>& segments) {
  MissingRowCounts holes;
  if (segments.size() < 2) return holes;
  const Eigen::RowVectorXd largest = estimator::largest_absolute_controls(segments);
  std::vector<estimator::Segment> all;
  for (std::size_t first = 0; first < segments.size();) {
    std::vector<int> missing = {0};  // before each joined segment
    std::size_t next = first + 1;
    double read = segments[first].sample_count();
    for (; next < segments.size(); ++next) {
      const int rows = missing_between(segments[next - 1], segments[next], largest, read);
      if (rows < 0) break;
      read += segments[next].sample_count() - rows;
      missing.push_back(rows);
      ++holes.count;
      holes.rows += rows;
    }
    all.push_back(missing.size() == 1 ? segments[first]
                                      : estimator::concatenate_segments(
                                            {segments.data() + first, missing.size()}, missing));
    first = next;
  }
  segments = std::move(all);
  return holes;
}

void unify_sampling_periods(std::vector<estimator::Recording>& recordings) {
  const double period = first_period(recordings);
  for (estimator::Recording& recording : recordings) {
    for (estimator::Segment& segment : recording.segments) {
      if (std::abs(segment.period - period) <= kPeriodToleranceRelative * period)
        segment.period = period;
    }
  }
}

}  // namespace service
