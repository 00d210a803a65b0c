#include "estimator/diagnostics/jumps/lost_time_scores.hpp"

#include <algorithm>
#include <cmath>

namespace estimator {
namespace {

constexpr double kFurther[] = {2.0, 3.0};  // times the distance between nodes
constexpr int kParabola = 3;               // coefficients
constexpr int kStretchRowsMin = 8;         // rows between two nodes
constexpr double kOwnLeast = 1e-9;         // relative squared norm of a jump outside the parabolas

/// The residuals and speeds of each sensor between two shooting nodes, in standard deviations of a
/// reading. A missing reading has residual NaN and speed 0.
struct NodeInterval {
  int segment, first;
  Eigen::MatrixXd left, speed;
};

NodeInterval stretch_of(const ShootingProblem& from_afar, const Segment& data, int segment,
                        int first, int count) {
  NodeInterval stretch{segment, first, {}, {}};
  const Eigen::MatrixXd model = from_afar.angles(segment).middleRows(first, count);
  stretch.left.resize(count, model.cols());
  stretch.speed.setZero(count, model.cols());
  for (Eigen::Index i = 0; i < model.cols(); ++i) {
    const Encoder& sensor = from_afar.sensor(static_cast<int>(i));
    const double noise = from_afar.noise().angle[i];
    for (int k = 0; k < count; ++k) {
      const double read = data.angles(first + k, i);
      stretch.left(k, i) = sensor.difference(read - model(k, i)) / noise;
      if (std::isnan(read)) continue;
      const int a = std::max(k - 1, 0), b = std::min(k + 1, count - 1);
      stretch.speed(k, i) = (model(b, i) - model(a, i)) / (b - a) / noise;
    }
  }
  return stretch;
}

/// Subtracts the best parabola in time from the residuals of one sensor.
/// @return rows × 3, orthonormal basis of the parabolas; zero for missing readings
Eigen::MatrixXd take_parabola(Eigen::Ref<Eigen::VectorXd> left) {
  const Eigen::Index rows = left.size();
  Eigen::MatrixXd basis = Eigen::MatrixXd::Zero(rows, kParabola);
  for (Eigen::Index k = 0; k < rows; ++k) {
    if (std::isnan(left[k])) {
      left[k] = 0.0;
      continue;
    }
    const double time = 2.0 * static_cast<double>(k) / static_cast<double>(rows - 1) - 1.0;
    basis.row(k) << 1.0, time, time * time;
  }
  for (int j = 0; j < kParabola; ++j) {
    for (int other = 0; other < j; ++other) {
      basis.col(j) -= basis.col(other).dot(basis.col(j)) * basis.col(other);
    }
    const double norm = basis.col(j).norm();
    if (norm > 0.0) basis.col(j) /= norm;
    left -= basis.col(j).dot(left) * basis.col(j);
  }
  return basis;
}

/// Scores a loss of time at each row between two shooting nodes, and keeps the best score.
void score(NodeInterval stretch, std::optional<LostTimeScore>& best) {
  const Eigen::Index rows = stretch.left.rows(), sensors = stretch.left.cols();
  const auto readings = static_cast<double>(stretch.left.array().isFinite().count());
  const double free = readings - static_cast<double>(kParabola * sensors) - 1.0;
  if (!(free > 0.0)) return;
  std::vector<Eigen::MatrixXd> parabolas;
  for (Eigen::Index i = 0; i < sensors; ++i) {
    parabolas.push_back(take_parabola(stretch.left.col(i)));
  }
  const double all = stretch.left.squaredNorm();
  // The jump at a row lasts to the last of these rows, so accumulate from the end.
  double along = 0.0, square = 0.0;
  Eigen::MatrixXd shared = Eigen::MatrixXd::Zero(kParabola, sensors);
  for (Eigen::Index k = rows - 1; k > 0; --k) {
    for (Eigen::Index i = 0; i < sensors; ++i) {
      const double speed = stretch.speed(k, i);
      along += speed * stretch.left(k, i);
      square += speed * speed;
      shared.col(i) += speed * parabolas[static_cast<std::size_t>(i)].row(k).transpose();
    }
    const double own = square - shared.squaredNorm();
    if (!(along > 0.0) || !(own > kOwnLeast * square)) continue;
    const double gain = along * along / own;
    const double relative = gain / std::max(1.0, (all - gain) / free);
    if (best && !(relative > best->gain)) continue;
    best = {stretch.segment, stretch.first + static_cast<int>(k), along / own, relative};
  }
}

}  // namespace

std::optional<LostTimeScore> likeliest_lost_time(const ShootingProblem& fit,
                                                 const std::vector<Segment>& segments,
                                                 const ShootingGrid& grid) {
  std::optional<LostTimeScore> best;
  for (const double further : kFurther) {
    ShootingGrid apart = grid;
    apart.interval *= further;
    const ShootingProblem from_afar = fit.restated(fit.mechanism(), segments, apart, fit.noise());
    for (int s = 0; s < from_afar.segment_count(); ++s) {
      const Segment& data = segments[static_cast<std::size_t>(s)];
      const std::vector<double>& nodes = from_afar.node_times(s);
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        const int first = data.first_sample_from(nodes[n] - kSampleTolerance * data.period);
        const int end = n + 1 < nodes.size()
                            ? data.first_sample_from(nodes[n + 1] - kSampleTolerance * data.period)
                            : data.sample_count();
        if (end - first < kStretchRowsMin) continue;
        score(stretch_of(from_afar, data, s, first, end - first), best);
      }
    }
  }
  return best;
}

}  // namespace estimator
