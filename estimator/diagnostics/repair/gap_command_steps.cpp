#include "estimator/diagnostics/repair/gap_command_steps.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "estimator/diagnostics/jumps/segment_end_fit.hpp"
#include "estimator/signal/sample_gaps.hpp"

namespace estimator {
namespace {

constexpr double kOffGrid = 0.1;    // of a period, largest offset between sampling grids
constexpr Eigen::Index kLevel = 4;  // least number of rows with a constant command on either side

/// Returns the number of rows missing between two segments, on the sampling grid of the first; 0 if
/// none, or too many to infer the motion inside the gap.
int rows_missing(const Segment& before, const Segment& after) {
  if (!before.times.empty() || !after.times.empty() || before.period != after.period) return 0;
  const double duration = after.start - before.start - before.duration();
  const double periods = duration / before.period;
  if (!(duration <= kBridgedGapMax) || std::abs(periods - std::round(periods)) > kOffGrid) return 0;
  return static_cast<int>(std::round(periods)) - 1;
}

/// Returns whether the commands are constant on both sides of a gap, and differ.
bool is_edge_between(const Segment& before, const Segment& after) {
  const Eigen::Index rows = before.controls.rows();
  if (before.controls.cols() == 0 || rows < kLevel || after.controls.rows() < kLevel) return false;
  const Eigen::RowVectorXd level = before.controls.row(rows - 1), next = after.controls.row(0);
  const auto is_held = [](const auto& some, const Eigen::RowVectorXd& at) {
    return (some.rowwise() - at).isZero(0.0);
  };
  return level != next && is_held(before.controls.bottomRows(kLevel), level) &&
         is_held(after.controls.topRows(kLevel), next);
}

/// Returns the squared misfit of joint rates across a gap, scaled by the reading noise. The misfit
/// is the change of the rate minus the change predicted from the accelerations. The acceleration
/// before the gap acts for `held` intervals, that after the gap for all others; both are
/// extrapolated.
double misfit(const CutEnds& ends, int intervals, int held, const Eigen::VectorXd& noise) {
  double sum = 0.0;
  const double other = intervals - held;
  for (std::size_t i = 0; i < ends.before.size(); ++i) {
    const SegmentEndFit &a = ends.before[i], &b = ends.after[i];
    const double gained =
        held * (a.curvature + 0.5 * a.jerk * held) + other * (b.curvature - 0.5 * b.jerk * other);
    sum += std::pow((b.rate - a.rate - gained) / noise[static_cast<Eigen::Index>(i)], 2);
  }
  return sum;
}

/// Returns the command step with the best and second-best numbers of rows that had the old level.
GapCommandStep edge_of(const CutEnds& ends, int rows, const Eigen::VectorXd& noise) {
  GapCommandStep edge{
      .recording = 0, .segment = 0, .rows = rows, .held = 0, .next = 0, .doubt = 0.0};
  double best = std::numeric_limits<double>::infinity(), second = best;
  for (int held = 0; held <= rows; ++held) {
    // The last row before has the old level.
    const double left = misfit(ends, rows + 1, held + 1, noise);
    if (left < best) {
      second = std::exchange(best, left);
      edge.next = std::exchange(edge.held, held);
    } else if (left < second) {
      second = left;
      edge.next = held;
    }
  }
  edge.doubt = second > 0.0 ? best / second : 1.0;
  return edge;
}

}  // namespace

std::vector<GapCommandStep> find_gap_command_steps(const Calibration& calibration,
                                                   const std::vector<Recording>& recordings) {
  std::vector<GapCommandStep> edges;
  for (int r = 0; r < std::ssize(recordings); ++r) {
    const Recording& recording = recordings[static_cast<std::size_t>(r)];
    for (int s = 1; s < std::ssize(recording.segments); ++s) {
      const Segment& before = recording.segments[static_cast<std::size_t>(s) - 1];
      const Segment& after = recording.segments[static_cast<std::size_t>(s)];
      const int rows = rows_missing(before, after);
      if (rows < 1 || rows > before.sample_count() || !is_edge_between(before, after)) continue;
      const std::optional<CutEnds> ends = ends_at_cut(calibration, recording, s, EndCurve::kCubic);
      if (!ends) continue;
      GapCommandStep edge = edge_of(*ends, rows, calibration.angle_noise);
      edge.recording = r;
      edge.segment = s;
      edges.push_back(edge);
    }
  }
  return edges;
}

std::vector<Recording> fill_gap_command_steps(std::vector<Recording> recordings,
                                              const std::vector<GapCommandStep>& edges) {
  std::vector<GapCommandStep> from_behind = edges;
  std::ranges::sort(from_behind, std::greater<>(), &GapCommandStep::segment);
  for (const GapCommandStep& each : from_behind) {
    std::vector<Segment>& segments = recordings[static_cast<std::size_t>(each.recording)].segments;
    const auto behind = static_cast<std::size_t>(each.segment);
    const Eigen::RowVectorXd next = segments[behind].controls.row(0);
    Segment& whole = segments[behind - 1];
    const Eigen::Index first = whole.controls.rows();
    const Eigen::RowVectorXd level = whole.controls.row(first - 1);
    append_to_last(segments, each.segment, each.rows);
    for (int k = 0; k < each.rows; ++k) {
      whole.controls.row(first + k) = k < each.held ? level : next;
    }
  }
  return recordings;
}

std::vector<Finding> gap_command_step_findings(const std::vector<Recording>& recordings,
                                               const std::vector<GapCommandStep>& edges) {
  std::vector<Finding> findings;
  for (int r = 0; r < std::ssize(recordings); ++r) {
    const Recording& recording = recordings[static_cast<std::size_t>(r)];
    std::vector<TimeStretch> stretches;
    int count = 0;
    for (const GapCommandStep& edge : edges) {
      if (edge.recording != r) continue;
      ++count;
      const Segment& after = recording.segments[static_cast<std::size_t>(edge.segment)];
      add_stretch({after.start - (edge.rows + 1) * after.period, after.start}, stretches);
    }
    if (count == 0) continue;
    Finding finding = make_finding(
        {MessageCode::kGapCommandStep, {{"count", count}, {"first", stretches.front().from}}},
        recording.name);
    finding.from = stretches.front().from;
    finding.to = stretches.back().to;
    finding.stretches = std::move(stretches);
    finding.treated = true;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace estimator
