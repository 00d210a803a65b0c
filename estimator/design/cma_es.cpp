#include "estimator/design/cma_es.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "estimator/math/decompositions.hpp"

namespace estimator {

CmaEs::CmaEs(const Eigen::VectorXd& start, double spread, int points, std::uint64_t seed)
    : mean_(start),
      path_(Eigen::VectorXd::Zero(start.size())),
      spread_path_(path_),
      weights_(points / 2),
      covariance_(Eigen::MatrixXd::Identity(start.size(), start.size())),
      points_(start.size(), points),
      spread_(spread),
      random_(seed),
      best_(start),
      best_cost_(std::numeric_limits<double>::infinity()) {
  assert(points >= 4 && spread > 0.0);
  for (Eigen::Index i = 0; i < weights_.size(); ++i) {
    weights_[i] = std::log(0.5 * (points + 1)) - std::log(static_cast<double>(i + 1));
  }
  weights_ /= weights_.sum();
  mass_ = 1.0 / weights_.squaredNorm();
  decompose_covariance();
}

void CmaEs::decompose_covariance() {
  const SymmetricEigen solved = symmetric_eigen(covariance_);
  axes_ = solved.vectors;
  lengths_ = solved.values.cwiseMax(1e-20).cwiseSqrt();
}

const Eigen::MatrixXd& CmaEs::ask() {
  std::normal_distribution<double> normal;
  for (Eigen::Index k = 0; k < points_.cols(); ++k) {
    Eigen::VectorXd z(mean_.size());
    for (double& each : z) each = normal(random_);
    points_.col(k) = mean_ + spread_ * (axes_ * lengths_.cwiseProduct(z));
  }
  return points_;
}

void CmaEs::update_distribution(const std::vector<double>& costs) {
  assert(static_cast<Eigen::Index>(costs.size()) == points_.cols());
  const auto cost = [&](Eigen::Index k) {
    const double own = costs[static_cast<std::size_t>(k)];
    return std::isnan(own) ? std::numeric_limits<double>::infinity() : own;
  };
  std::vector<Eigen::Index> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order,
                           [&](Eigen::Index a, Eigen::Index b) { return cost(a) < cost(b); });
  if (cost(order.front()) < best_cost_) {
    best_cost_ = cost(order.front());
    best_ = points_.col(order.front());
  }

  const auto n = static_cast<double>(mean_.size());
  const double along_spread = (mass_ + 2.0) / (n + mass_ + 5.0);  // c_σ
  const double damping =
      1.0 + along_spread + 2.0 * std::max(0.0, std::sqrt((mass_ - 1.0) / (n + 1.0)) - 1.0);
  const double along = (4.0 + mass_ / n) / (n + 4.0 + 2.0 * mass_ / n);  // c_c
  const double one = 2.0 / (std::pow(n + 1.3, 2) + mass_);               // c_1
  const double many = std::min(
      1.0 - one, 2.0 * (mass_ - 2.0 + 1.0 / mass_) / (std::pow(n + 2.0, 2) + mass_));  // c_μ
  const double expected = std::sqrt(n) * (1.0 - 0.25 / n + 1.0 / (21.0 * n * n));  // E‖N(0, 1)‖

  Eigen::MatrixXd steps(mean_.size(), weights_.size());
  for (Eigen::Index i = 0; i < weights_.size(); ++i) {
    steps.col(i) = (points_.col(order[static_cast<std::size_t>(i)]) - mean_) / spread_;
  }
  const Eigen::VectorXd step = steps * weights_;
  mean_ += spread_ * step;
  const Eigen::VectorXd white =
      axes_ * (axes_.transpose() * step).cwiseQuotient(lengths_);  // C^{−½} step
  spread_path_ = (1.0 - along_spread) * spread_path_ +
                 std::sqrt(along_spread * (2.0 - along_spread) * mass_) * white;
  ++rounds_;
  const double fading = 1.0 - std::pow(1.0 - along_spread, 2 * rounds_);
  const bool moderate =
      spread_path_.norm() / std::sqrt(fading) < (1.4 + 2.0 / (n + 1.0)) * expected;
  path_ = (1.0 - along) * path_;
  if (moderate) path_ += std::sqrt(along * (2.0 - along) * mass_) * step;
  const double lost = moderate ? 0.0 : one * along * (2.0 - along);
  covariance_ = (1.0 - one - many + lost) * covariance_ + one * path_ * path_.transpose() +
                many * steps * weights_.asDiagonal() * steps.transpose();
  spread_ *= std::exp(along_spread / damping * (spread_path_.norm() / expected - 1.0));
  decompose_covariance();
}

}  // namespace estimator
