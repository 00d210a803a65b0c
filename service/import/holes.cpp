#include "service/import/holes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace service {
namespace {

constexpr double kHeldRowsMax = 3.0;    // for which a command may be held that changes
constexpr double kCommandChange = 0.1;  // of the largest, that counts as held
constexpr double kGridTolerance = 0.1;  // of a period, by which segments may miss each other's grid

/// Largest absolute command of every motor in all segments.
Eigen::RowVectorXd largest_controls(const std::vector<estimator::Segment>& segments) {
  Eigen::RowVectorXd largest = Eigen::RowVectorXd::Zero(segments.front().controls.cols());
  for (const estimator::Segment& segment : segments) {
    if (segment.controls.rows() == 0) continue;
    largest = largest.cwiseMax(segment.controls.cwiseAbs().colwise().maxCoeff());
  }
  return largest;
}

double change_between(const estimator::Segment& before, const estimator::Segment& after,
                      const Eigen::RowVectorXd& largest) {
  double worst = 0.0;
  for (Eigen::Index motor = 0; motor < largest.size(); ++motor) {
    const double change =
        std::abs(after.controls(0, motor) - before.controls(before.controls.rows() - 1, motor));
    if (largest[motor] > 0.0) worst = std::max(worst, change / largest[motor]);
  }
  return worst;
}

/// Rows missing between two segments, or −1 where the second does not continue the first.
int missing_between(const estimator::Segment& before, const estimator::Segment& after,
                    const Eigen::RowVectorXd& largest, double read) {
  if (before.period != after.period || !before.times.empty() || !after.times.empty()) return -1;
  const double duration = after.start - before.start - before.duration();
  const double periods = duration / before.period;
  const double missing = std::round(periods) - 1.0;
  if (!(missing >= 1.0) || !(std::abs(periods - std::round(periods)) <= kGridTolerance)) return -1;
  if (!goes_on(duration, missing, change_between(before, after, largest), read)) return -1;
  return static_cast<int>(missing);
}

/// Segments [first, last) with as many empty rows between them as are missing.
estimator::Segment join(const std::vector<estimator::Segment>& segments, std::size_t first,
                        const std::vector<int>& missing) {
  Eigen::Index rows = 0;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    rows += missing[i] + segments[first + i].angles.rows();
  }
  estimator::Segment joined = segments[first];
  joined.angles.setConstant(rows, segments[first].angles.cols(),
                            std::numeric_limits<double>::quiet_NaN());
  joined.controls.resize(rows, segments[first].controls.cols());
  const Eigen::Index axes = segments[first].inertial.cols();
  joined.inertial.setConstant(axes > 0 ? rows : 0, axes, std::numeric_limits<double>::quiet_NaN());
  Eigen::Index row = 0;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const estimator::Segment& part = segments[first + i];
    row += missing[i];
    joined.angles.middleRows(row, part.angles.rows()) = part.angles;
    joined.controls.middleRows(row, part.angles.rows()) = part.controls;
    if (axes > 0) joined.inertial.middleRows(row, part.angles.rows()) = part.inertial;
    draw_command(row - missing[i], missing[i], joined);
    row += part.angles.rows();
  }
  return joined;
}

}  // namespace

void draw_command(Eigen::Index first, int missing, estimator::Segment& segment) {
  if (missing == 0) return;
  const Eigen::RowVectorXd before = segment.controls.row(first - 1);
  const Eigen::RowVectorXd rise = segment.controls.row(first + missing) - before;
  for (int k = 0; k < missing; ++k) {
    segment.controls.row(first + k) = before + (k + 1.0) / (missing + 1.0) * rise;
  }
}

bool goes_on(double duration, double missing, double change, double read) {
  return duration <= kHoleMax && missing <= read &&
         (missing <= kHeldRowsMax || change <= kCommandChange);
}

Holes join_segments(std::vector<estimator::Segment>& segments) {
  Holes holes;
  if (segments.size() < 2) return holes;
  const Eigen::RowVectorXd largest = largest_controls(segments);
  std::vector<estimator::Segment> joined;
  for (std::size_t first = 0; first < segments.size();) {
    std::vector<int> missing = {0};  // before each segment that is joined
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
    joined.push_back(missing.size() == 1 ? segments[first] : join(segments, first, missing));
    first = next;
  }
  segments = std::move(joined);
  return holes;
}

}  // namespace service
