#include "estimator/doctor/hidden_edges.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "estimator/calibrate/number_text.hpp"
#include "estimator/doctor/modelled_ends.hpp"
#include "estimator/signal/holes.hpp"

namespace estimator {
namespace {

constexpr double kOffGrid = 0.1;    // of a period, by which segments may miss each other's grid
constexpr Eigen::Index kLevel = 4;  // rows with one command, at the least, on either side

/// Rows that are missing ahead of a segment that goes on on the grid of the one before; 0: none, or
/// so many that the motion does not tell what it did.
int rows_missing(const Segment& before, const Segment& after) {
  if (!before.times.empty() || !after.times.empty() || before.period != after.period) return 0;
  const double duration = after.start - before.start - before.duration();
  const double periods = duration / before.period;
  if (!(duration <= kHoleMax) || std::abs(periods - std::round(periods)) > kOffGrid) return 0;
  return static_cast<int>(std::round(periods)) - 1;
}

/// Whether the commands are held on both sides, and differ.
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

/// Intervals of a row over which the level before acts, by least squares over the sensors: what it
/// adds to their rates over the hole, beside the level behind.
std::optional<double> intervals_held(const CutEnds& ends, int intervals,
                                     const Eigen::VectorXd& noise) {
  double along = 0.0, square = 0.0;
  for (std::size_t i = 0; i < ends.before.size(); ++i) {
    const ModelledEnd &a = ends.before[i], &b = ends.after[i];
    const double variance = std::pow(noise[static_cast<Eigen::Index>(i)], 2);
    const double jump = a.bend - b.bend;
    along += jump * (b.rate - a.rate - intervals * b.bend) / variance;
    square += jump * jump / variance;
  }
  if (!(square > 0.0)) return {};
  return along / square;
}

}  // namespace

HiddenEdge HiddenEdge::other() const {
  HiddenEdge edge = *this;
  edge.held = std::clamp(held + (said > held ? 1 : -1), 0, rows);
  return edge;
}

std::vector<HiddenEdge> find_hidden_edges(const Calibration& calibration,
                                          const std::vector<Recording>& recordings) {
  std::vector<HiddenEdge> edges;
  for (int r = 0; r < std::ssize(recordings); ++r) {
    const Recording& recording = recordings[static_cast<std::size_t>(r)];
    for (int s = 1; s < std::ssize(recording.segments); ++s) {
      const Segment& before = recording.segments[static_cast<std::size_t>(s) - 1];
      const Segment& after = recording.segments[static_cast<std::size_t>(s)];
      const int rows = rows_missing(before, after);
      if (rows < 1 || rows > before.sample_count() || !is_edge_between(before, after)) continue;
      const std::optional<CutEnds> ends = ends_at_cut(calibration, recording, s);
      if (!ends) continue;
      const std::optional<double> intervals =
          intervals_held(*ends, rows + 1, calibration.angle_noise);
      if (!intervals) continue;
      const double said = *intervals - 1.0;  // the last row before is known to have its level
      const double nearest = std::clamp(std::round(said), 0.0, static_cast<double>(rows));
      edges.push_back({r, s, rows, static_cast<int>(nearest), said});
    }
  }
  return edges;
}

std::vector<Recording> with_hidden_edges(std::vector<Recording> recordings,
                                         const std::vector<HiddenEdge>& edges) {
  std::vector<HiddenEdge> from_behind = edges;
  std::ranges::sort(from_behind, std::greater<>(), &HiddenEdge::segment);
  for (const HiddenEdge& each : from_behind) {
    std::vector<Segment>& segments = recordings[static_cast<std::size_t>(each.recording)].segments;
    const auto at = segments.begin() + each.segment;
    const Eigen::Index first = (at - 1)->controls.rows();
    const Eigen::RowVectorXd level = (at - 1)->controls.row(first - 1), next = at->controls.row(0);
    *(at - 1) = joined({&*(at - 1), 2}, {0, each.rows});
    for (int k = 0; k < each.rows; ++k) {
      (at - 1)->controls.row(first + k) = k < each.held ? level : next;
    }
    segments.erase(at);
  }
  return recordings;
}

std::vector<Finding> hidden_edge_findings(const std::vector<Recording>& recordings,
                                          const std::vector<HiddenEdge>& edges) {
  std::vector<Finding> findings;
  for (int r = 0; r < std::ssize(recordings); ++r) {
    const Recording& recording = recordings[static_cast<std::size_t>(r)];
    Finding finding{
        .kind = "hidden-edge", .severity = Severity::kNote, .recording = recording.name};
    int count = 0;
    for (const HiddenEdge& edge : edges) {
      if (edge.recording != r) continue;
      ++count;
      const Segment& after = recording.segments[static_cast<std::size_t>(edge.segment)];
      add_stretch({after.start - (edge.rows + 1) * after.period, after.start}, finding.stretches);
    }
    if (count == 0) continue;
    finding.from = finding.stretches.front().from;
    finding.to = finding.stretches.back().to;
    finding.what = "the command jumps within missing rows, " + std::to_string(count) +
                   (count == 1 ? " time, at " : " times, the first at ") +
                   number_text(finding.from, 6) + " s";
    finding.advice = "log commands without gaps";
    finding.treatment =
        "the motion on either side tells at which row; the recording is joined there again";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace estimator
