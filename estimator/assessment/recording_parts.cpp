#include "estimator/assessment/recording_parts.hpp"

#include <algorithm>
#include <cmath>

namespace estimator {
namespace {

constexpr double kPieces = 8.0;      // their scatter is known to ± 27 %
constexpr double kFullShare = 0.65;  // of 1/kPieces of the motion, at which a part is complete
constexpr int kNodesMin = 3;         // per window; more than its own states' worth
constexpr int kSamplesMin = 50;      // per window

/// Returns the travel of the encoders from the start of a segment to each sample, summed over
/// encoders. The travel of each encoder is divided by its total over all segments.
std::vector<double> path_of(const Segment& segment, const Eigen::VectorXd& totals) {
  std::vector<double> path(static_cast<std::size_t>(segment.sample_count()), 0.0);
  for (Eigen::Index sensor = 0; sensor < segment.angles.cols(); ++sensor) {
    double sum = 0.0, last = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t k = 0; k < path.size(); ++k) {
      const double angle = segment.angles(static_cast<Eigen::Index>(k), sensor);
      if (std::isfinite(last) && std::isfinite(angle)) sum += std::abs(angle - last);
      if (std::isfinite(angle)) last = angle;
      if (totals[sensor] > 0.0) path[k] += sum / totals[sensor];
    }
  }
  return path;
}

Eigen::VectorXd total_paths(const std::vector<Segment>& segments) {
  Eigen::VectorXd totals = Eigen::VectorXd::Zero(segments.front().angles.cols());
  for (const Segment& segment : segments) {
    for (Eigen::Index sensor = 0; sensor < totals.size(); ++sensor) {
      const Eigen::VectorXd unit = Eigen::VectorXd::Unit(totals.size(), sensor);
      totals[sensor] += path_of(segment, unit).back();
    }
  }
  return totals;
}

/// Cuts one segment at shooting nodes into windows of equal encoder travel.
void add_windows(const ShootingProblem& joint, const Segment& segment, int index,
                 const std::vector<double>& path, double whole, std::vector<Window>& windows) {
  const auto nodes = static_cast<int>(joint.states(index).cols());
  const int samples = segment.sample_count();
  const int most = std::max(1, std::min(nodes / kNodesMin, samples / kSamplesMin));
  const int count =
      std::clamp(static_cast<int>(std::lround(kPieces * path.back() / whole)), 1, most);
  const auto sample_at = [&](int node) {
    const double time = joint.node_times(index)[static_cast<std::size_t>(node)];
    return segment.first_sample_from(time - 0.5 * segment.period);
  };
  const auto path_at = [&](int node) {
    return path[static_cast<std::size_t>(std::min(sample_at(node), samples - 1))];
  };
  int node = 0;
  for (int i = 0; i < count; ++i) {
    const int later = count - 1 - i;  // windows, which need nodes too
    int next = nodes;
    if (later > 0) {
      next = node + kNodesMin;
      while (next < nodes - later * kNodesMin && path_at(next) < (i + 1) * path.back() / count) {
        ++next;
      }
    }
    Window window{.segment = index, .node = node};
    window.first = sample_at(node);
    window.end = later > 0 ? sample_at(next) : samples;
    const auto at = [&](int sample) { return path[static_cast<std::size_t>(sample)]; };
    window.share = (at(window.end - 1) - at(window.first)) / whole;
    windows.push_back(window);
    node = next;
  }
}

}  // namespace

std::vector<RecordingPart> divide_into_parts(const ShootingProblem& joint,
                                             const ShootingInput& input) {
  const Eigen::VectorXd totals = total_paths(input.segments);
  std::vector<std::vector<double>> paths;
  double whole = 0.0;
  for (const Segment& segment : input.segments) {
    paths.push_back(path_of(segment, totals));
    whole += paths.back().back();
  }
  std::vector<RecordingPart> pieces;
  std::vector<Window> windows;
  for (std::size_t s = 0; s < input.segments.size(); ++s) {
    add_windows(joint, input.segments[s], static_cast<int>(s), paths[s], whole, windows);
  }
  const auto recording_of = [&](const Window& window) -> const std::string& {
    return input.sources[static_cast<std::size_t>(window.segment)];
  };
  double share = 0.0;
  bool open = false;
  for (const Window& window : windows) {
    if (!open || recording_of(pieces.back().back()) != recording_of(window)) {
      pieces.emplace_back();
      share = 0.0;
    }
    pieces.back().push_back(window);
    share += window.share;
    open = share < kFullShare / kPieces;
  }
  return pieces;
}

}  // namespace estimator
