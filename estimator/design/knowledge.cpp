#include "estimator/design/knowledge.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <vector>

#include "estimator/calibrate/free_parameters.hpp"

namespace estimator {
namespace {

constexpr int kTrials = 50;

/// A direction that the information tells less of than this, scaled to a unit diagonal, is drawn no
/// wider.
constexpr double kLeastTold = 1e-6;

/// With a unit diagonal, as Σ V diag(λ) Vᵀ.
struct Spectrum {
  Eigen::VectorXd scale;  ///< that was divided by
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};

/// @param symmetric  with a diagonal above zero
Spectrum spectrum_of(const Eigen::MatrixXd& symmetric) {
  Spectrum spectrum{.scale = symmetric.diagonal().cwiseSqrt(), .values = {}, .vectors = {}};
  const auto inverse = spectrum.scale.cwiseInverse().asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(inverse * symmetric * inverse);
  spectrum.values = solver.eigenvalues();
  spectrum.vectors = solver.eigenvectors();
  return spectrum;
}

/// A root of the inverse.
Eigen::MatrixXd inverse_root(const Eigen::MatrixXd& symmetric) {
  const Spectrum spectrum = spectrum_of(symmetric);
  return spectrum.scale.cwiseInverse().asDiagonal() * spectrum.vectors *
         spectrum.values.cwiseMax(kLeastTold).cwiseSqrt().cwiseInverse().asDiagonal();
}

Knowledge knowledge_of(const Mechanism& mechanism, Eigen::MatrixXd information) {
  const Eigen::VectorXd values = FreeParameters(mechanism).values(mechanism);
  Eigen::MatrixXd drawn = information;
  std::vector<Eigen::Index> varied;
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    if (!(drawn(i, i) > 0.0)) drawn(i, i) = std::pow(kUnknownShare * values[i], -2);
    if (std::isfinite(drawn(i, i))) varied.push_back(i);
  }
  Knowledge knowledge{.information = std::move(information),
                      .root = Eigen::MatrixXd::Zero(values.size(), values.size())};
  if (!varied.empty()) knowledge.root(varied, varied) = inverse_root(drawn(varied, varied));
  return knowledge;
}

}  // namespace

Knowledge knowledge_of_priors(const Mechanism& mechanism) {
  const FreeParameters free(mechanism);
  ResidualBlock priors;
  free.linearize_priors(mechanism, 0, priors);
  return knowledge_of(mechanism, priors.arrow_jacobian.transpose() * priors.arrow_jacobian);
}

Knowledge knowledge_of_estimate(const Mechanism& mechanism, const Eigen::MatrixXd& covariance) {
  std::vector<Eigen::Index> known;
  for (Eigen::Index i = 0; i < covariance.rows(); ++i) {
    if (covariance(i, i) > 0.0 && std::isfinite(covariance(i, i))) known.push_back(i);
  }
  Eigen::MatrixXd information = Eigen::MatrixXd::Zero(covariance.rows(), covariance.cols());
  if (!known.empty()) {
    const Spectrum spectrum = spectrum_of(covariance(known, known));
    const double least = 1e-14 * spectrum.values.maxCoeff();  // of rounding
    const auto unscale = spectrum.scale.cwiseInverse().asDiagonal();
    information(known, known) = unscale * spectrum.vectors *
                                spectrum.values.cwiseMax(least).cwiseInverse().asDiagonal() *
                                spectrum.vectors.transpose() * unscale;
  }
  return knowledge_of(mechanism, std::move(information));
}

Mechanism draw(const Mechanism& mechanism, const Knowledge& knowledge, std::mt19937_64& random) {
  const FreeParameters free(mechanism);
  const Eigen::VectorXd values = free.values(mechanism);
  const Eigen::VectorXd lower = free.lower(mechanism), upper = free.upper(mechanism);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < kTrials; ++trial) {
    Eigen::VectorXd z(values.size());
    for (double& each : z) each = normal(random);
    const Eigen::VectorXd drawn = (values + knowledge.root * z).cwiseMax(lower).cwiseMin(upper);
    Mechanism other = mechanism;
    free.move(mechanism, drawn - values, other);
    if (FreeParameters::is_possible(other) && find_faults(other, InertiaCheck::kFixed).empty()) {
      return other;
    }
  }
  return mechanism;
}

}  // namespace estimator
