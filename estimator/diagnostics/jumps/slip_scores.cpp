#include "estimator/diagnostics/jumps/slip_scores.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "estimator/optimize/covariance.hpp"

namespace estimator {
namespace {

/// Number of slips that one linearisation scores together, each as a parameter.
constexpr int kTogether = 48;
/// Spacing of the first slips scored, relative to the interval between shooting nodes. Within an
/// interval the motion cannot follow a slip.
constexpr double kApart = 0.25;
/// Largest number of first slips per sensor, since each requires computing time.
constexpr double kFirstMost = 16.0 * kTogether;
/// Relative squared norm that remains of a slip if states and parameters reproduce it completely.
constexpr double kUndone = 1e-9;

struct SlipPlace {
  int segment, sensor, row;
};

class SlipScores {
 public:
  SlipScores(const ShootingProblem& fit, const std::vector<Segment>& segments,
             const std::vector<std::string>& sources, const ShootingGrid& grid)
      : fit_(fit),
        segments_(segments),
        sources_(sources),
        grid_(grid),
        base_(compute_information(fit, {.effective_parameters = false})) {}

  bool is_valid() const { return base_.valid; }

  /// Scores slips at the given rows and sensors, and keeps the best score in `best`.
  void score(const std::vector<SlipPlace>& places, std::optional<SlipScore>& best) const {
    for (std::size_t first = 0; first < places.size(); first += kTogether) {
      const std::size_t count = std::min<std::size_t>(kTogether, places.size() - first);
      score_some({places.data() + first, count}, best);
    }
  }

 private:
  void score_some(std::span<const SlipPlace> places, std::optional<SlipScore>& best) const {
    Mechanism mechanism = fit_.mechanism();
    std::vector<Segment> segments = segments_;
    for (std::size_t i = 0; i < places.size(); ++i) {
      Parameter parameter;
      parameter.name = "slip " + std::to_string(i);
      parameter.free = true;
      mechanism.parameters.push_back(parameter);
      const int index = static_cast<int>(mechanism.parameters.size()) - 1;
      const auto own = static_cast<std::size_t>(places[i].segment);
      for (std::size_t s = own; s < segments.size() && sources_[s] == sources_[own]; ++s) {
        segments[s].shifts.push_back({places[i].sensor, s == own ? places[i].row : 0, index});
      }
    }
    const ShootingProblem with = fit_.restated(mechanism, segments, grid_, fit_.noise());
    const ParameterInformation information =
        compute_information(with, {.effective_parameters = false});
    if (!information.valid) return;
    Eigen::VectorXd score = Eigen::VectorXd::Zero(information.schur.rows());
    for (const Eigen::VectorXd& group : information.group_score) score += group;
    // Offsets are the last free parameters.
    const Eigen::Index n = base_.inverse.rows();
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Eigen::Index at = n + static_cast<Eigen::Index>(i);
      const Eigen::VectorXd mixed = information.schur.col(at).head(n);
      const Eigen::VectorXd followed = base_.inverse * mixed;
      const double square = information.schur(at, at) - mixed.dot(followed);
      const double along = score[at] - followed.dot(score.head(n));
      if (!(square > kUndone * information.scale[at])) continue;
      const double gain = along * along / square;
      if (best && !(gain > best->gain)) continue;
      best = {places[i].segment, places[i].sensor, places[i].row, along / square, gain};
    }
  }

  const ShootingProblem& fit_;
  const std::vector<Segment>& segments_;
  const std::vector<std::string>& sources_;
  const ShootingGrid& grid_;
  ParameterInformation base_;
};

}  // namespace

std::optional<SlipScore> likeliest_slip(const ShootingProblem& fit,
                                        const std::vector<Segment>& segments,
                                        const std::vector<std::string>& sources,
                                        const ShootingGrid& grid) {
  const SlipScores scores(fit, segments, sources, grid);
  std::optional<SlipScore> best;
  if (!scores.is_valid()) return best;
  double duration = 0.0;
  for (const Segment& segment : segments) duration += segment.duration();
  const double apart =
      std::max(std::min(kApart * grid.interval, duration / kTogether), duration / kFirstMost);
  const auto stride_in = [&](const Segment& segment) {
    return std::max(1, static_cast<int>(apart / segment.period));
  };
  std::vector<SlipPlace> places;
  for (int s = 0; s < fit.segment_count(); ++s) {
    const Segment& segment = segments[static_cast<std::size_t>(s)];
    for (int i = 0; i < fit.encoder_count(); ++i) {
      for (int row = stride_in(segment); row < segment.sample_count(); row += stride_in(segment)) {
        places.push_back({s, i, row});
      }
    }
  }
  scores.score(places, best);
  if (!best) return best;
  // Refine the spacing around the best, down to single rows.
  const Segment& segment = segments[static_cast<std::size_t>(best->segment)];
  for (int stride = stride_in(segment); stride > 1;) {
    const int finer = std::max(1, 2 * stride / kTogether);
    places.clear();
    for (int row = best->row - stride + 1; row < best->row + stride; row += finer) {
      if (row > 0 && row < segment.sample_count()) {
        places.push_back({best->segment, best->sensor, row});
      }
    }
    scores.score(places, best);
    stride = finer;
  }
  return best;
}

}  // namespace estimator
