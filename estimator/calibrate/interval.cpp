#include "estimator/calibrate/interval.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <random>

#include "estimator/calibrate/calibration.hpp"

namespace estimator {
namespace {

constexpr int kDraws = 4000;  // the level is then 95 % to within 0.35 %

/// R with R Rᵀ = A, of a covariance that may be singular.
Eigen::MatrixXd square_root(const Eigen::MatrixXd& A) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(A);
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

/// Covariance of the part of Tᵀe that is normal, over all groups.
Eigen::MatrixXd normal_scatter(const ParameterInformation& information,
                               const Eigen::VectorXd& variances,
                               const std::vector<QuantisedErrors>& counting) {
  Eigen::MatrixXd scatter =
      Eigen::MatrixXd::Zero(information.schur.rows(), information.schur.cols());
  for (std::size_t g = 0; g < information.group_schur.size(); ++g) {
    const auto found = std::find_if(
        counting.begin(), counting.end(),
        [&](const QuantisedErrors& each) { return each.group == static_cast<int>(g); });
    scatter += found != counting.end()
                   ? found->normal_scatter
                   : variances[static_cast<Eigen::Index>(g)] * information.group_schur[g];
  }
  return scatter;
}

/// Tᵀe of one encoder in one segment at a random phase, without the part that is normal.
template <typename Random>
Eigen::VectorXd draw(const Eigen::MatrixXd& harmonics, Random& random) {
  const double phase = std::uniform_real_distribution<double>(0.0, 2.0 * M_PI)(random);
  Eigen::VectorXd weights(harmonics.cols());
  for (Eigen::Index k = 0; k < weights.size() / 2; ++k) {
    weights[2 * k] = std::cos(static_cast<double>(k + 1) * phase);
    weights[2 * k + 1] = std::sin(static_cast<double>(k + 1) * phase);
  }
  return harmonics * weights;
}

}  // namespace

Eigen::VectorXd half_intervals(const ParameterInformation& information,
                               const Eigen::VectorXd& variances,
                               const std::vector<QuantisedErrors>& counting) {
  const ParameterCovariance covariance = compute_covariance(information, variances);
  Eigen::VectorXd half = kNormalHalfWidth95 * covariance.standard_deviation;
  if (counting.empty()) return half;
  const Eigen::MatrixXd root = square_root(normal_scatter(information, variances, counting));
  std::mt19937_64 random;  // NOLINT: seeded alike on purpose, so that results can be repeated
  std::normal_distribution<double> gaussian;
  Eigen::MatrixXd magnitudes(kDraws, half.size());
  for (Eigen::Index i = 0; i < kDraws; ++i) {
    Eigen::VectorXd gradient =
        root * Eigen::VectorXd::NullaryExpr(half.size(), [&] { return gaussian(random); });
    for (const QuantisedErrors& errors : counting) {
      for (const Eigen::MatrixXd& harmonics : errors.harmonics) gradient += draw(harmonics, random);
    }
    magnitudes.row(i) = (information.inverse * gradient).cwiseAbs();
  }
  const Eigen::Index rank = kDraws * 95 / 100;
  for (Eigen::Index parameter = 0; parameter < half.size(); ++parameter) {
    if (!(half[parameter] > 0.0) || std::isinf(half[parameter])) continue;
    auto column = magnitudes.col(parameter);
    std::nth_element(column.begin(), column.begin() + rank, column.end());
    half[parameter] = column[rank];
  }
  return half;
}

}  // namespace estimator
