#include "estimator/doctor/slip_scores.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/optimize/covariance.hpp"

namespace estimator {
namespace {

/// Slips that are looked at together: each is a parameter of one linearisation.
constexpr int kTogether = 48;
/// Time between slips that are looked at first, of an interval from node to node: within one the
/// motion cannot follow a slip.
constexpr double kApart = 0.25;
/// So many of each sensor at most, however long recordings are: each costs a share of a simulation.
constexpr double kFirstMost = 16.0 * kTogether;
/// Of a slip's own square, what is left where states and parameters can do the same.
constexpr double kUndone = 1e-9;

enum class JumpKind { kSlip, kLostTime };

/// A row, and the sensor that slips there; −1: all, in the ratio of their speeds.
struct SlipPlace {
  int segment, sensor, row;
};

class SlipScores {
 public:
  SlipScores(const ShootingProblem& fit, const std::vector<Segment>& segments,
             const std::vector<std::string>& sources, const ShootingGrid& grid, JumpKind kind)
      : fit_(fit),
        segments_(segments),
        sources_(sources),
        grid_(grid),
        kind_(kind),
        base_(compute_information(fit, {.effective_parameters = false})) {}

  bool is_valid() const { return base_.valid; }

  /// Keeps the best in `best`.
  void score(const std::vector<SlipPlace>& places, std::optional<SlipScore>& best) const {
    std::vector<SlipPlace> slips;
    std::vector<std::size_t> ends;  // of each place's slips
    const auto flush = [&] {
      if (!slips.empty()) score_some(slips, ends, best);
      slips.clear();
      ends.clear();
    };
    for (const SlipPlace& place : places) {
      for (int i = 0; i < fit_.sensor_count(); ++i) {
        if (place.sensor < 0 || place.sensor == i) slips.push_back({place.segment, i, place.row});
      }
      ends.push_back(slips.size());
      if (slips.size() >= kTogether) flush();
    }
    flush();
  }

 private:
  void score_some(const std::vector<SlipPlace>& slips, const std::vector<std::size_t>& ends,
                  std::optional<SlipScore>& best) const {
    const ShootingProblem with = with_slips(slips);
    const ParameterInformation information =
        compute_information(with, {.effective_parameters = false});
    if (!information.valid) return;
    Eigen::VectorXd score = Eigen::VectorXd::Zero(information.schur.rows());
    for (const Eigen::VectorXd& group : information.group_score) score += group;
    // Offsets are the last of the free parameters; the others follow.
    const Eigen::Index n = base_.inverse.rows(), m = score.size() - n;
    const Eigen::MatrixXd mixed = information.schur.topRightCorner(n, m);
    const Eigen::MatrixXd followed = base_.inverse * mixed;
    const Eigen::MatrixXd squares =
        information.schur.bottomRightCorner(m, m) - mixed.transpose() * followed;
    const Eigen::VectorXd alongs = score.tail(m) - followed.transpose() * score.head(n);
    Eigen::Index first = 0;
    for (const std::size_t end : ends) {
      const Eigen::Index count = static_cast<Eigen::Index>(end) - first;
      const SlipPlace& slip = slips[static_cast<std::size_t>(first)];
      const bool is_lost_time = kind_ == JumpKind::kLostTime;
      const Eigen::VectorXd ratio = is_lost_time ? speeds(slip) : Eigen::VectorXd::Ones(1);
      const Eigen::VectorXd own = information.scale.segment(n + first, count);
      const double square = ratio.dot(squares.block(first, first, count, count) * ratio);
      const double along = ratio.dot(alongs.segment(first, count));
      first = static_cast<Eigen::Index>(end);
      if (!(square > kUndone * ratio.cwiseAbs2().dot(own))) continue;
      if (is_lost_time && !(along > 0.0)) continue;
      const double gain = along * along / square;
      if (best && !(gain > best->gain)) continue;
      int sensor = slip.sensor;
      if (is_lost_time) ratio.cwiseAbs().maxCoeff(&sensor);
      best = {slip.segment, sensor, slip.row, along / square, gain};
    }
  }

  /// The fit with an offset for each slip.
  ShootingProblem with_slips(const std::vector<SlipPlace>& slips) const {
    Mechanism mechanism = fit_.mechanism();
    std::vector<Segment> segments = segments_;
    for (std::size_t i = 0; i < slips.size(); ++i) {
      Parameter parameter;
      parameter.name = "slip " + std::to_string(i);
      parameter.free = true;
      mechanism.parameters.push_back(parameter);
      const int index = static_cast<int>(mechanism.parameters.size()) - 1;
      const auto own = static_cast<std::size_t>(slips[i].segment);
      for (std::size_t s = own; s < segments.size() && sources_[s] == sources_[own]; ++s) {
        segments[s].shifts.push_back({slips[i].sensor, s == own ? slips[i].row : 0, index});
      }
    }
    return fit_.restated(mechanism, segments, grid_, fit_.noise());
  }

  /// Of all sensors, by the fit, ahead of a row [rad or m a row].
  Eigen::VectorXd speeds(const SlipPlace& at) const {
    const Eigen::MatrixXd& angles = fit_.angles(at.segment);
    return (angles.row(at.row) - angles.row(at.row - 1)).transpose();
  }

  const ShootingProblem& fit_;
  const std::vector<Segment>& segments_;
  const std::vector<std::string>& sources_;
  const ShootingGrid& grid_;
  JumpKind kind_;
  ParameterInformation base_;
};

std::optional<SlipScore> likeliest_jump(JumpKind kind, const ShootingProblem& fit,
                                        const std::vector<Segment>& segments,
                                        const std::vector<std::string>& sources,
                                        const ShootingGrid& grid) {
  const SlipScores scores(fit, segments, sources, grid, kind);
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
    const int first = kind == JumpKind::kSlip ? 0 : -1;
    for (int i = first; i < (kind == JumpKind::kSlip ? fit.sensor_count() : 0); ++i) {
      for (int row = stride_in(segment); row < segment.sample_count(); row += stride_in(segment)) {
        places.push_back({s, i, row});
      }
    }
  }
  scores.score(places, best);
  if (!best) return best;
  // Ever closer about the best, down to rows.
  const Segment& segment = segments[static_cast<std::size_t>(best->segment)];
  for (int stride = stride_in(segment); stride > 1;) {
    const int finer = std::max(1, 2 * stride / kTogether);
    places.clear();
    for (int row = best->row - stride + 1; row < best->row + stride; row += finer) {
      if (row > 0 && row < segment.sample_count()) {
        places.push_back({best->segment, kind == JumpKind::kSlip ? best->sensor : -1, row});
      }
    }
    scores.score(places, best);
    stride = finer;
  }
  return best;
}

}  // namespace

std::optional<SlipScore> likeliest_slip(const ShootingProblem& fit,
                                        const std::vector<Segment>& segments,
                                        const std::vector<std::string>& sources,
                                        const ShootingGrid& grid) {
  return likeliest_jump(JumpKind::kSlip, fit, segments, sources, grid);
}

std::optional<SlipScore> likeliest_lost_time(const ShootingProblem& fit,
                                             const std::vector<Segment>& segments,
                                             const std::vector<std::string>& sources,
                                             const ShootingGrid& grid) {
  return likeliest_jump(JumpKind::kLostTime, fit, segments, sources, grid);
}

}  // namespace estimator
