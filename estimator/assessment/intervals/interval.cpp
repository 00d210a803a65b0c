#include "estimator/assessment/intervals/interval.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "estimator/assessment/calibration.hpp"
#include "estimator/math/decompositions.hpp"

namespace estimator {
namespace {

/// Returns a matrix R with R Rᵀ = A for a possibly singular covariance A.
Eigen::MatrixXd square_root(const Eigen::MatrixXd& A) {
  const SymmetricEigen eigen = symmetric_eigen(A);
  return eigen.vectors * eigen.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
}

/// Returns the covariance of the cost gradient due to normally distributed reading errors.
Eigen::MatrixXd normal_scatter(const ParameterInformation& information,
                               const Eigen::VectorXd& variances,
                               const QuantizationErrors& counting) {
  Eigen::MatrixXd scatter = counting.normal_scatter;
  for (std::size_t g = 0; g < information.group_schur.size(); ++g) {
    const auto counts = [&](const QuantizedSensor& s) { return s.sensor == static_cast<int>(g); };
    if (std::any_of(counting.sensors.begin(), counting.sensors.end(), counts)) continue;
    scatter += variances[static_cast<Eigen::Index>(g)] * information.group_schur[g];
  }
  return scatter;
}

}  // namespace

Eigen::VectorXd half_intervals(const ParameterInformation& information,
                               const Eigen::VectorXd& variances,
                               const QuantizationErrors& counting) {
  const ParameterCovariance covariance = compute_covariance(information, variances);
  Eigen::VectorXd half = kNormalHalfWidth95 * covariance.standard_deviation;
  if (counting.sensors.empty()) return half;
  const Eigen::MatrixXd root = square_root(normal_scatter(information, variances, counting));
  std::mt19937_64 random;  // fixed seed on purpose: repeatable results
  std::normal_distribution<double> gaussian;
  const Eigen::MatrixXd normal = Eigen::MatrixXd::NullaryExpr(half.size(), counting.draws.cols(),
                                                              [&] { return gaussian(random); });
  Eigen::MatrixXd magnitudes =
      (information.inverse * (counting.draws + root * normal)).cwiseAbs().transpose();
  const Eigen::Index rank = magnitudes.rows() * 95 / 100;
  for (Eigen::Index parameter = 0; parameter < half.size(); ++parameter) {
    if (!(half[parameter] > 0.0) || std::isinf(half[parameter])) continue;
    auto column = magnitudes.col(parameter);
    std::nth_element(column.begin(), column.begin() + rank, column.end());
    half[parameter] = column[rank];
  }
  return half;
}

}  // namespace estimator
