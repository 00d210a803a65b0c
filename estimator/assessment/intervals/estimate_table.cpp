#include "estimator/assessment/intervals/estimate_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/math/decompositions.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/placement.hpp"

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
Rest without_some_priors(const ParameterInformation& information, const Eigen::VectorXd& variances,
                         const Eigen::MatrixXd& slopes, const Eigen::VectorXd& residual) {
  Rest rest{information, {}, {}};
  rest.information.group_schur.back() -= slopes.transpose() * slopes;
  rest.information.group_score.back() += slopes.transpose() * residual;
  recompute_information(rest.information);
  rest.step = rest.information.inverse * compute_total_score(rest.information);
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
int parameter_farthest_from_cad(const Mechanism& mechanism, int body) {
  const InertiaPrior prior(mechanism, body);
  Mechanism cad = mechanism;
  for (const int index : prior.parameters()) {
    if (index >= 0) {
      cad.at(index).value = mechanism.at(index).prior_mean;
    }
  }
  const InertiaPrior::Sensitivities slopes = prior.sensitivities(cad);
  int farthest = prior.parameters()[0];
  double most = -1.0;
  for (int i = 0; i < 10; ++i) {
    const int index = prior.parameters()[static_cast<std::size_t>(i)];
    if (index < 0 || !is_changed_by_fit(mechanism, index)) continue;
    const double off =
        std::abs(mechanism.at(index).value - mechanism.at(index).prior_mean) * slopes.col(i).norm();
    if (!(off > most)) continue;
    most = off;
    farthest = index;
  }
  return farthest;
}

constexpr double kOffBoundShare = 1e-3;  // of the residual's norm
constexpr double kNoEffect = 1e-10;      // relative to the residual's norm

/// The norm of the residual, and the norms of its derivatives with respect to each free parameter.
struct ParameterEffect {
  Eigen::VectorXd column_norms;
  double residual_norm;
};

ParameterEffect parameter_effect(const LeastSquaresProblem& problem) {
  ResidualBlock block;
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(problem.shape().parameter_count);
  for (int index = 0; index < problem.block_count(); ++index) {
    problem.linearize(index, block);
    sums += block.parameter_jacobian.topRows(block.rows).colwise().squaredNorm().transpose();
  }
  return {sums.cwiseSqrt(), std::sqrt(problem.cost())};
}

/// Returns the mechanism with each inertia reduced to the moments that affect its motion, so that
/// only these can be inconsistent. A body that turns about one axis gets the moment about this axis
/// for all axes.
Mechanism with_effective_moments(const Mechanism& mechanism) {
  Mechanism effective = mechanism;
  for (int body = 0; body < mechanism.body_count(); ++body) {
    const auto axis = find_single_rotation_axis(mechanism, body);
    if (!axis || mechanism.bodies[static_cast<std::size_t>(body)].massless) continue;
    const auto value = [&](BodyParameter quantity) -> double& {
      return effective.parameter(body, quantity).value;
    };
    const double xx = value(BodyParameter::kJxx), yy = value(BodyParameter::kJyy);
    const double zz = value(BodyParameter::kJzz), xy = value(BodyParameter::kJxy);
    const double xz = value(BodyParameter::kJxz), yz = value(BodyParameter::kJyz);
    const Eigen::Vector3d& e = *axis;
    const double moment =
        e.isZero() ? 1.0
                   : xx * e.x() * e.x() + yy * e.y() * e.y() + zz * e.z() * e.z() +
                         2.0 * (xy * e.x() * e.y() + xz * e.x() * e.z() + yz * e.y() * e.z());
    for (const BodyParameter diagonal :
         {BodyParameter::kJxx, BodyParameter::kJyy, BodyParameter::kJzz})
      value(diagonal) = moment;
    for (const BodyParameter product :
         {BodyParameter::kJxy, BodyParameter::kJxz, BodyParameter::kJyz})
      value(product) = 0.0;
  }
  return effective;
}

ParameterEstimate estimate_of(const Parameter& source) {
  return {.name = source.name,
          .unit = source.unit,
          .value = source.value,
          .lower = source.lower,
          .upper = source.upper};
}

}  // namespace

PriorFreeEstimates estimate_without_priors(const Mechanism& mechanism,
                                           const ParameterInformation& information,
                                           const Eigen::VectorXd& variances) {
  const FreeParameters free(mechanism);
  if (free.prior_residual_count() == 0 || !information.valid) return {};
  ResidualBlock block;
  free.linearize_priors(mechanism, 0, block);
  const Rest rest =
      without_some_priors(information, variances, block.parameter_jacobian, block.residual);
  PriorFreeEstimates alone{free.parameter_values(mechanism) + rest.step,
                           rest.covariance.standard_deviation};
  for (Eigen::Index i = 0; i < alone.values.size(); ++i) {
    if (rest.information.undetermined[static_cast<std::size_t>(i)]) {
      alone.values[i] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return alone;
}

std::vector<PriorConflict> find_prior_conflicts(const Mechanism& mechanism,
                                                const ParameterInformation& information,
                                                const Eigen::VectorXd& variances) {
  std::vector<PriorConflict> conflicts;
  const FreeParameters free(mechanism);
  if (free.prior_residual_count() == 0 || !information.valid) return conflicts;
  ResidualBlock block;
  free.linearize_priors(mechanism, 0, block);
  const Eigen::MatrixXd scatter = compute_score_covariance(information, variances);
  const Eigen::VectorXd undone = information.inverse * compute_total_score(information);
  for (const FreeParameters::PriorRows& rows : free.prior_rows()) {
    const Eigen::MatrixXd A = block.parameter_jacobian.middleRows(rows.first, rows.count);
    // The solver's remaining step is small, but matters for a prior that is sharper than the data.
    const Eigen::VectorXd residual = block.residual.segment(rows.first, rows.count) + A * undone;
    const Distance found = distance(information, scatter, A, residual);
    if (!(found.deviations >= kConflictDeviations)) continue;
    const bool is_cad_prior = rows.body >= 0;
    const Parameter& parameter = mechanism.at(
        is_cad_prior ? parameter_farthest_from_cad(mechanism, rows.body) : rows.parameter);
    const double without =
        is_cad_prior
            ? parameter.value
            : parameter.prior_mean + found.residual[0] * parameter.prior_standard_deviation;
    conflicts.push_back(
        {parameter.name, parameter.prior_mean, without, found.deviations, parameter.unit});
  }
  return conflicts;
}

Message make_prior_conflict_note(const PriorConflict& conflict) {
  return {MessageCode::kPriorConflict,
          {{"parameter", conflict.parameter},
           {"mean", Quantity{conflict.mean, conflict.unit}},
           {"deviations", conflict.deviations},
           {"estimate", Quantity{conflict.without, conflict.unit}}}};
}

void move_initial_values_off_bounds(Mechanism& mechanism, const ProblemFactory& make_problem) {
  const auto at_bound = [](const Parameter& parameter) {
    return parameter.free &&
           (parameter.value <= parameter.lower || parameter.value >= parameter.upper) &&
           parameter.lower < parameter.upper;
  };
  const FreeParameters free(mechanism);
  // Twice: a rate has an effect only after its torque has left zero.
  for (int round = 0; round < 2; ++round) {
    if (std::none_of(mechanism.parameters.begin(), mechanism.parameters.end(), at_bound)) return;
    const ParameterEffect effect = parameter_effect(*make_problem(mechanism));
    for (int i = 0; i < free.size(); ++i) {
      Parameter& parameter = mechanism.at(free.parameter_indices()[static_cast<std::size_t>(i)]);
      const double column = effect.column_norms[i];
      if (!at_bound(parameter) || !(column > 0.0)) continue;
      const double distance = std::min(kOffBoundShare * effect.residual_norm / column,
                                       0.5 * (parameter.upper - parameter.lower));
      parameter.value += parameter.value <= parameter.lower ? distance : -distance;
    }
  }
}

std::vector<int> find_parameters_without_effect(const LeastSquaresProblem& problem,
                                                const Mechanism& mechanism) {
  const ParameterEffect effect = parameter_effect(problem);
  const std::vector<int> free = FreeParameters(mechanism).parameter_indices();
  std::vector<int> without;
  for (std::size_t i = 0; i < free.size(); ++i) {
    const Parameter& parameter = mechanism.at(free[i]);
    const double reach = effect.column_norms[static_cast<Eigen::Index>(i)] *
                         std::max(std::abs(parameter.value), 1.0);
    if (!(reach > kNoEffect * effect.residual_norm)) without.push_back(free[i]);
  }
  return without;
}

EstimateTable::EstimateTable(const Mechanism& mechanism)
    : free_(FreeParameters(mechanism).parameter_indices()), estimated_(free_) {
  if (free_.empty()) {
    throw std::invalid_argument("no parameter is free: mark at least one with free: true");
  }
  for (const int index : free_) {
    initial_.push_back(mechanism.at(index).value);
  }
}

EstimateTable::EstimateTable(const Mechanism& mechanism, const Mechanism& varied)
    : EstimateTable(mechanism) {
  estimated_ = FreeParameters(varied).parameter_indices();
}

void EstimateTable::fix_parameters_without_effect(const LeastSquaresProblem& problem,
                                                  Mechanism& mechanism,
                                                  std::vector<Message>& notes) {
  const std::vector<int> without = find_parameters_without_effect(problem, mechanism);
  const auto parameter = [&](int index) -> Parameter& { return mechanism.at(index); };
  if (without.size() == free_.size()) {
    throw std::invalid_argument("the recordings excite none of the free parameters (" +
                                parameter(without.front()).name + ", …)");
  }
  for (const int index : without) {
    parameter(index).free = false;
    if (is_held_out_sensor_parameter(mechanism, index))
      continue;  // reported with the cost of holding out
    notes.push_back({MessageCode::kParameterWithoutEffect, {{"parameter", parameter(index).name}}});
  }
  estimated_ = FreeParameters(mechanism).parameter_indices();
}

void EstimateTable::fill(const ParameterUncertainty& uncertainty, const PriorFreeEstimates& data,
                         Calibration& result) const {
  for (std::size_t i = 0; i < free_.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    const Parameter& source = result.mechanism.at(free_[i]);
    ParameterEstimate estimate = estimate_of(source);
    estimate.standard_deviation = uncertainty.standard_deviation[at];
    estimate.half_interval = uncertainty.half_interval[at];
    estimate.noise_deviation = uncertainty.noise_deviation[at];
    estimate.scatter_deviation = uncertainty.scatter_deviation[at];
    estimate.initial = initial_[i];
    estimate.at_bound = uncertainty.at_bound[at] != 0;
    const auto place = std::ranges::find(estimated_, free_[i]);
    if (data.values.size() > 0 && place != estimated_.end()) {
      estimate.data_value = data.values[place - estimated_.begin()];
      estimate.data_deviation = data.standard_deviations[place - estimated_.begin()];
    }
    result.parameters.push_back(estimate);
  }
  store_dependent_estimates(uncertainty, result);
  result.covariance = uncertainty.covariance;
  result.correlation = uncertainty.correlation;
  result.null_directions = uncertainty.null_directions;
  for (const Message& error : find_mechanism_errors(with_effective_moments(result.mechanism))) {
    result.notes.push_back(
        {MessageCode::kUnphysicalEstimate, {{"error", std::vector<Message>{error}}}});
  }
}

/// Stores the estimates of parameters computed from free parameters. Standard deviations are exact,
/// since the dependence is linear. Intervals of sums assume normal errors. For a single term, or if
/// parts disagree, the largest ratio of half-width to standard deviation is used.
void EstimateTable::store_dependent_estimates(const ParameterUncertainty& uncertainty,
                                              Calibration& result) const {
  for (const ParameterDependency& tie : result.mechanism.dependencies) {
    Eigen::VectorXd along = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(free_.size()));
    double initial = tie.constant;
    for (const DependencyTerm& term : tie.terms) {
      const auto place = std::ranges::find(free_, term.parameter);
      if (place == free_.end()) {
        initial += term.factor * result.mechanism.at(term.parameter).value;
        continue;
      }
      along[place - free_.begin()] = term.factor;
      initial += term.factor * initial_[static_cast<std::size_t>(place - free_.begin())];
    }
    if (along.isZero(0.0)) continue;
    const Parameter& source = result.mechanism.at(tie.parameter);
    ParameterEstimate estimate = estimate_of(source);
    estimate.initial = initial;
    const auto n = uncertainty.noise_covariance.rows();
    double variance = compute_combination_variance(uncertainty, along);
    double noise = along.dot(uncertainty.noise_covariance * along), factor = 0.0;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (along[i] == 0.0) continue;
      const double deviation = uncertainty.standard_deviation[i];
      if (std::isinf(deviation)) variance = noise = deviation;
      if (deviation > 0.0) factor = std::max(factor, uncertainty.half_interval[i] / deviation);
    }
    const bool normal = (along.array() != 0.0).count() > 1 && !uncertainty.disagree;
    estimate.standard_deviation = std::sqrt(variance);
    estimate.noise_deviation = std::sqrt(noise);
    const double scatter = along.dot(uncertainty.scatter * along);
    if (scatter > 0.0) estimate.scatter_deviation = std::sqrt(scatter);
    estimate.half_interval =
        std::isinf(variance) ? variance
                             : (normal ? kNormalHalfWidth95 : factor) * estimate.standard_deviation;
    result.dependent.push_back(estimate);
  }
}

}  // namespace estimator
