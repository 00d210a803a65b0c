#include "tests/studies/motion_observer/motion_filter.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <limits>
#include <utility>

namespace estimator {
namespace {

constexpr Eigen::Index kTrial = 20;  // instants after which the best start is chosen

/// Propagates coordinates and rates in every column of x over a period h [s].
template <typename Columns>
void advance(Columns&& x, double h) {
  const Eigen::Index n = x.rows() / 3;
  x.topRows(n) += h * x.middleRows(n, n) + 0.5 * h * h * x.bottomRows(n);
  x.middleRows(n, n) += h * x.bottomRows(n);
}

/// Adds the process noise of white jerk over a period to a covariance.
void add_process_noise(const MotionModel& model, Eigen::MatrixXd& covariance) {
  const Eigen::Index n = model.jerk.size();
  const double h = model.period;
  const double share[3][3] = {{h * h * h * h * h / 20.0, h * h * h * h / 8.0, h * h * h / 6.0},
                              {h * h * h * h / 8.0, h * h * h / 3.0, h * h / 2.0},
                              {h * h * h / 6.0, h * h / 2.0, h}};
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      covariance.block(a * n, b * n, n, n).diagonal() += share[a][b] * model.jerk.cwiseAbs2();
    }
  }
}

Eigen::MatrixXd predicted_covariance(const InstantEstimate& estimate, const MotionModel& model) {
  Eigen::MatrixXd covariance = estimate.covariance;
  advance(covariance, model.period);
  covariance.transposeInPlace();
  advance(covariance, model.period);
  add_process_noise(model, covariance);
  return covariance;
}

}  // namespace

MotionPrior predict(const InstantEstimate& estimate, const MotionModel& model) {
  MotionPrior prior;
  prior.mean = estimate.motion;
  advance(prior.mean, model.period);
  const Eigen::MatrixXd covariance = predicted_covariance(estimate, model);
  prior.information =
      covariance.llt().solve(Eigen::MatrixXd::Identity(covariance.rows(), covariance.cols()));
  return prior;
}

std::vector<FilteredInstant> filter_motion(MotionObserver& estimator,
                                           const Eigen::MatrixXd& readings,
                                           const MotionPrior& prior,
                                           const std::vector<Eigen::VectorXd>& starts,
                                           const MotionModel& model) {
  const Eigen::Index count = readings.cols();
  if (count == 0 || starts.empty()) return {};
  const auto follow = [&](std::vector<FilteredInstant>& filtered, Eigen::Index end) {
    for (auto k = static_cast<Eigen::Index>(filtered.size()); k < end; ++k) {
      FilteredInstant next{predict(filtered.back().estimate, model), {}};
      next.estimate = estimator.estimate(readings.col(k), next.prior, next.prior.mean);
      filtered.push_back(std::move(next));
    }
  };
  std::vector<FilteredInstant> best;
  double least = std::numeric_limits<double>::infinity();
  for (const Eigen::VectorXd& start : starts) {
    std::vector<FilteredInstant> filtered = {
        {prior, estimator.estimate(readings.col(0), prior, start)}};
    if (starts.size() > 1) follow(filtered, std::min<Eigen::Index>(count, kTrial));
    double cost = 0.0;
    for (const FilteredInstant& each : filtered) cost += each.estimate.cost;
    if (!best.empty() && !(cost < least)) continue;
    least = cost;
    best = std::move(filtered);
  }
  follow(best, count);
  return best;
}

std::vector<SmoothedInstant> smooth_motion(const std::vector<FilteredInstant>& filtered,
                                           const MotionModel& model) {
  std::vector<SmoothedInstant> smoothed(filtered.size());
  for (std::size_t k = filtered.size(); k-- > 0;) {
    const InstantEstimate& own = filtered[k].estimate;
    smoothed[k] = {own.motion, own.covariance};
    if (k + 1 == filtered.size()) continue;
    const MotionPrior& ahead = filtered[k + 1].prior;
    Eigen::MatrixXd gain = own.covariance;  // P Fᵀ (F P Fᵀ + Q)⁻¹
    advance(gain, model.period);
    gain = (gain.transpose() * ahead.information).eval();
    smoothed[k].motion += gain * (smoothed[k + 1].motion - ahead.mean);
    smoothed[k].covariance +=
        gain * (smoothed[k + 1].covariance - predicted_covariance(own, model)) * gain.transpose();
  }
  return smoothed;
}

}  // namespace estimator
