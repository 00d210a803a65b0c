#include "estimator/assessment/intervals/prior_conflicts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/math/decompositions.hpp"

namespace estimator {
namespace {

constexpr double kMinVarianceReduction =
    1e-8;  // least reduction of a prior's variance by other information

/// The information matrix without some of the priors, and the resulting change of the estimates.
struct Rest {
  ParameterInformation information;
  Eigen::VectorXd step;
  ParameterCovariance covariance;
};

/// Returns the information matrix and estimates without some priors, given by rows of the priors'
/// Jacobian, `slopes`, and their residuals.
Rest leave_out(const ParameterInformation& information, const Eigen::VectorXd& variances,
               const Eigen::MatrixXd& slopes, const Eigen::VectorXd& residual) {
  Rest rest{information, {}, {}};
  rest.information.group_schur.back() -= slopes.transpose() * slopes;
  rest.information.group_score.back() += slopes.transpose() * residual;
  recompute_information(rest.information);
  rest.step = rest.information.inverse * total_score(rest.information);
  rest.covariance = compute_covariance(rest.information, variances);
  return rest;
}

/// The largest distance, over directions, between a prior's residuals r and the other information,
/// in standard deviations. Let A = ∂r/∂χ for parameters χ, S the information matrix, R = A S⁻¹ Aᵀ,
/// and N_d the scatter of all other groups. At the estimate, the difference has the covariance (1 −
/// R)² + A S⁻¹ N_d S⁻¹ Aᵀ, which is 1 − R for correct weights. Directions without other information
/// are left out.
struct Distance {
  double deviations = 0.0;
  Eigen::VectorXd residual;  ///< residual of the estimate without the prior, (1 − R)⁻¹ r
};

Distance distance(const ParameterInformation& information, const Eigen::MatrixXd& others,
                  const Eigen::MatrixXd& A, const Eigen::VectorXd& residual) {
  const Eigen::MatrixXd gain = A * information.inverse;
  const Eigen::MatrixXd left = Eigen::MatrixXd::Identity(A.rows(), A.rows()) - gain * A.transpose();
  const Eigen::MatrixXd scatter =
      left * left.transpose() + gain * (others - A.transpose() * A) * gain.transpose();
  const SymmetricEigen solved = symmetric_eigen(0.5 * (scatter + scatter.transpose()));
  Distance result;
  for (Eigen::Index i = 0; i < A.rows(); ++i) {
    const Eigen::VectorXd v = solved.vectors.col(i);
    if (!(v.dot(left * v) > kMinVarianceReduction)) continue;
    const double variance = solved.values[i];
    result.deviations =
        std::max(result.deviations, std::abs(v.dot(residual)) / std::sqrt(variance));
  }
  result.residual = least_squares(left, residual);
  return result;
}

/// Returns the parameter that deviates most from a body's CAD prior, measured in standard
/// deviations of the prior with the other parameters at their CAD values.
int farthest_from_drawing(const Mechanism& mechanism, int body) {
  const InertiaPrior prior(mechanism, body);
  Mechanism drawn = mechanism;
  for (const int index : prior.parameters()) {
    if (index >= 0) {
      parameter_at(drawn, index).value = parameter_at(mechanism, index).prior_mean;
    }
  }
  const InertiaPrior::Sensitivities slopes = prior.slopes(drawn);
  int farthest = prior.parameters()[0];
  double most = -1.0;
  for (int i = 0; i < 10; ++i) {
    const int index = prior.parameters()[static_cast<std::size_t>(i)];
    if (index < 0 || !changes_in_fit(mechanism, index)) continue;
    const double off =
        std::abs(parameter_at(mechanism, index).value - parameter_at(mechanism, index).prior_mean) *
        slopes.col(i).norm();
    if (!(off > most)) continue;
    most = off;
    farthest = index;
  }
  return farthest;
}

}  // namespace

PriorFreeEstimates estimate_without_priors(const Mechanism& mechanism,
                                           const ParameterInformation& information,
                                           const Eigen::VectorXd& variances) {
  const FreeParameters free(mechanism);
  if (free.prior_count() == 0 || !information.valid) return {};
  ResidualBlock block;
  free.linearize_priors(mechanism, 0, block);
  const Rest rest = leave_out(information, variances, block.arrow_jacobian, block.residual);
  PriorFreeEstimates alone{free.values(mechanism) + rest.step, rest.covariance.standard_deviation};
  for (Eigen::Index i = 0; i < alone.values.size(); ++i) {
    if (rest.information.undetermined[static_cast<std::size_t>(i)]) {
      alone.values[i] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return alone;
}

std::vector<PriorConflict> find_conflicts(const Mechanism& mechanism,
                                          const ParameterInformation& information,
                                          const Eigen::VectorXd& variances) {
  std::vector<PriorConflict> conflicts;
  const FreeParameters free(mechanism);
  if (free.prior_count() == 0 || !information.valid) return conflicts;
  ResidualBlock block;
  free.linearize_priors(mechanism, 0, block);
  const Eigen::MatrixXd scatter = score_covariance(information, variances);
  const Eigen::VectorXd undone = information.inverse * total_score(information);
  for (const FreeParameters::PriorRows& rows : free.prior_rows()) {
    const Eigen::MatrixXd A = block.arrow_jacobian.middleRows(rows.first, rows.count);
    // The solver's remaining step is small, but matters for a prior that is sharper than the data.
    const Eigen::VectorXd residual = block.residual.segment(rows.first, rows.count) + A * undone;
    const Distance found = distance(information, scatter, A, residual);
    if (!(found.deviations >= kConflictDeviations)) continue;
    const bool drawing = rows.body >= 0;
    const Parameter& parameter = parameter_at(
        mechanism, drawing ? farthest_from_drawing(mechanism, rows.body) : rows.parameter);
    const double without =
        drawing ? parameter.value
                : parameter.prior_mean + found.residual[0] * parameter.prior_standard_deviation;
    conflicts.push_back(
        {parameter.name, parameter.prior_mean, without, found.deviations, parameter.unit});
  }
  return conflicts;
}

Message conflict_note(const PriorConflict& conflict) {
  return {MessageCode::kPriorConflict,
          {{"parameter", conflict.parameter},
           {"mean", Quantity{conflict.mean, conflict.unit}},
           {"deviations", conflict.deviations},
           {"estimate", Quantity{conflict.without, conflict.unit}}}};
}

}  // namespace estimator
