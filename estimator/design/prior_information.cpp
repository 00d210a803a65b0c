#include "estimator/design/prior_information.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/math/decompositions.hpp"

namespace estimator {
namespace {

constexpr int kTrials = 50;

/// Smallest eigenvalue assumed for prior information scaled to unit diagonal. Bounds the spread of
/// random draws.
constexpr double kLeastTold = 1e-6;

constexpr double kRounding = 1e-14;

/// The eigenvalues and eigenvectors of a symmetric matrix scaled to unit diagonal, and the scale.
struct Spectrum {
  Eigen::VectorXd scale, values;
  Eigen::MatrixXd vectors;
};

/// Returns the eigendecomposition of a symmetric matrix scaled to unit diagonal.
/// @param symmetric  matrix with a positive diagonal
Spectrum spectrum_of(const Eigen::MatrixXd& symmetric) {
  const Eigen::VectorXd scale = symmetric.diagonal().cwiseSqrt();
  const Eigen::VectorXd unit = scale.cwiseInverse();
  const auto [values, vectors] = symmetric_eigen(unit.asDiagonal() * symmetric * unit.asDiagonal());
  return {scale, values, vectors};
}

/// Returns the indices of rows with a positive, finite diagonal element.
std::vector<Eigen::Index> known_rows(const Eigen::MatrixXd& symmetric) {
  std::vector<Eigen::Index> rows;
  for (Eigen::Index i = 0; i < symmetric.rows(); ++i) {
    if (symmetric(i, i) > 0.0 && std::isfinite(symmetric(i, i))) rows.push_back(i);
  }
  return rows;
}

/// Returns the inverse of the block of a symmetric matrix with positive diagonal; zero elsewhere.
/// @param least  lower bound on the eigenvalues, for unit diagonal
Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& symmetric, double least) {
  const std::vector<Eigen::Index> rows = known_rows(symmetric);
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Zero(symmetric.rows(), symmetric.cols());
  if (rows.empty()) return inverse;
  const Spectrum spectrum = spectrum_of(symmetric(rows, rows));
  const Eigen::MatrixXd V = spectrum.scale.cwiseInverse().asDiagonal() * spectrum.vectors;
  inverse(rows, rows) =
      V * spectrum.values.cwiseMax(least).cwiseInverse().asDiagonal() * V.transpose();
  return inverse;
}

PriorInformation knowledge_of(const Mechanism& mechanism, Eigen::MatrixXd information,
                              Eigen::MatrixXd covariance) {
  const Eigen::VectorXd values = FreeParameters(mechanism).parameter_values(mechanism);
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    if (!(covariance(i, i) > 0.0))
      covariance(i, i) = std::pow(kUnknownRelativeDeviation * values[i], 2);
  }
  PriorInformation knowledge{.information = std::move(information),
                             .root = Eigen::MatrixXd::Zero(values.size(), values.size())};
  const std::vector<Eigen::Index> rows = known_rows(covariance);
  if (rows.empty()) return knowledge;
  const Spectrum spectrum = spectrum_of(covariance(rows, rows));
  knowledge.root(rows, rows) = spectrum.scale.asDiagonal() * spectrum.vectors *
                               spectrum.values.cwiseMax(0.0).cwiseSqrt().asDiagonal();
  return knowledge;
}

}  // namespace

PriorInformation compute_prior_information(const Mechanism& mechanism) {
  const FreeParameters free(mechanism);
  ResidualBlock priors;
  free.linearize_priors(mechanism, 0, priors);
  Eigen::MatrixXd information = priors.parameter_jacobian.transpose() * priors.parameter_jacobian;
  Eigen::MatrixXd covariance = inverse_of(information, kLeastTold);
  return knowledge_of(mechanism, std::move(information), std::move(covariance));
}

PriorInformation compute_estimate_information(const Mechanism& mechanism,
                                              const Eigen::MatrixXd& covariance) {
  return knowledge_of(mechanism, inverse_of(covariance, kRounding), covariance);
}

Mechanism draw_parameters(const Mechanism& mechanism, const PriorInformation& knowledge,
                          std::mt19937_64& random) {
  const FreeParameters free(mechanism);
  const Eigen::VectorXd values = free.parameter_values(mechanism);
  const Eigen::VectorXd lower = free.lower(mechanism), upper = free.upper(mechanism);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < kTrials; ++trial) {
    Eigen::VectorXd z(values.size());
    for (double& each : z) each = normal(random);
    const Eigen::VectorXd drawn = (values + knowledge.root * z).cwiseMax(lower).cwiseMin(upper);
    Mechanism other = mechanism;
    free.move(mechanism, drawn - values, other);
    if (FreeParameters::has_valid_dependent_parameters(other) &&
        find_mechanism_errors(other, InertiaCheck::kFixed).empty()) {
      return other;
    }
  }
  return mechanism;
}

}  // namespace estimator
