#include "estimator/assessment/intervals/estimate_table.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "estimator/assessment/identifiability/parameter_effect.hpp"
#include "estimator/fit/free_parameters.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/only_rotation_axis.hpp"

namespace estimator {
namespace {

/// Returns the mechanism with each inertia reduced to the moments that affect its motion, so that
/// only these can be inconsistent. A body that turns about one axis gets the moment about this axis
/// for all axes.
Mechanism as_seen(const Mechanism& mechanism) {
  Mechanism seen = mechanism;
  for (int body = 0; body < mechanism.body_count(); ++body) {
    const auto axis = only_rotation_axis(mechanism, body);
    if (!axis || mechanism.bodies[static_cast<std::size_t>(body)].massless) continue;
    const auto value = [&](BodyQuantity quantity) -> double& {
      return seen.parameter(body, quantity).value;
    };
    const double xx = value(BodyQuantity::kJxx), yy = value(BodyQuantity::kJyy);
    const double zz = value(BodyQuantity::kJzz), xy = value(BodyQuantity::kJxy);
    const double xz = value(BodyQuantity::kJxz), yz = value(BodyQuantity::kJyz);
    const Eigen::Vector3d& e = *axis;
    const double moment =
        e.isZero() ? 1.0
                   : xx * e.x() * e.x() + yy * e.y() * e.y() + zz * e.z() * e.z() +
                         2.0 * (xy * e.x() * e.y() + xz * e.x() * e.z() + yz * e.y() * e.z());
    for (const BodyQuantity diagonal : {BodyQuantity::kJxx, BodyQuantity::kJyy, BodyQuantity::kJzz})
      value(diagonal) = moment;
    for (const BodyQuantity product : {BodyQuantity::kJxy, BodyQuantity::kJxz, BodyQuantity::kJyz})
      value(product) = 0.0;
  }
  return seen;
}

}  // namespace

EstimateTable::EstimateTable(const Mechanism& mechanism)
    : asked_(FreeParameters(mechanism).indices()), estimated_(asked_) {
  if (asked_.empty()) {
    throw std::invalid_argument("no parameter is free: mark at least one with free: true");
  }
  for (const int index : asked_) {
    initial_.push_back(mechanism.parameters[static_cast<std::size_t>(index)].value);
  }
}

void EstimateTable::fix_parameters_without_effect(const LeastSquaresProblem& problem,
                                                  Mechanism& mechanism,
                                                  std::vector<Message>& notes) {
  const std::vector<int> without = find_parameters_without_effect(problem, mechanism);
  const auto parameter = [&](int index) -> Parameter& {
    return mechanism.parameters[static_cast<std::size_t>(index)];
  };
  if (without.size() == asked_.size()) {
    throw std::invalid_argument("the recordings excite none of the free parameters (" +
                                parameter(without.front()).name + ", …)");
  }
  for (const int index : without) {
    parameter(index).free = false;
    if (belongs_to_held_out(mechanism, index)) continue;  // reported with the cost of holding out
    notes.push_back({MessageCode::kParameterWithoutEffect, {{"parameter", parameter(index).name}}});
  }
  estimated_ = FreeParameters(mechanism).indices();
}

void EstimateTable::fill(const Uncertainty& uncertainty, const PriorFreeEstimates& data,
                         Calibration& result) const {
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    const Parameter& source = result.mechanism.parameters[static_cast<std::size_t>(asked_[i])];
    ParameterEstimate estimate;
    estimate.name = source.name;
    estimate.unit = source.unit;
    estimate.value = source.value;
    estimate.standard_deviation = uncertainty.standard_deviation[at];
    estimate.half_interval = uncertainty.half_interval[at];
    estimate.noise_deviation = uncertainty.noise_deviation[at];
    estimate.scatter_deviation = uncertainty.scatter_deviation[at];
    estimate.initial = initial_[i];
    estimate.lower = source.lower;
    estimate.upper = source.upper;
    estimate.at_bound = uncertainty.at_bound[at] != 0;
    const auto place = std::ranges::find(estimated_, asked_[i]);
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
  for (const Message& error : find_errors(as_seen(result.mechanism))) {
    result.notes.push_back(
        {MessageCode::kUnphysicalEstimate, {{"error", std::vector<Message>{error}}}});
  }
}

/// Stores the estimates of parameters computed from free parameters. Standard deviations are exact,
/// since the dependence is linear. Intervals of sums assume normal errors. For a single term, or if
/// parts disagree, the largest ratio of half-width to standard deviation is used.
void EstimateTable::store_dependent_estimates(const Uncertainty& uncertainty,
                                              Calibration& result) const {
  for (const ParameterDependency& tie : result.mechanism.dependencies) {
    Eigen::VectorXd along = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(asked_.size()));
    double initial = tie.constant;
    for (const DependencyTerm& term : tie.terms) {
      const auto place = std::ranges::find(asked_, term.parameter);
      if (place == asked_.end()) {
        initial += term.factor *
                   result.mechanism.parameters[static_cast<std::size_t>(term.parameter)].value;
        continue;
      }
      along[place - asked_.begin()] = term.factor;
      initial += term.factor * initial_[static_cast<std::size_t>(place - asked_.begin())];
    }
    if (along.isZero(0.0)) continue;
    const Parameter& source = result.mechanism.parameters[static_cast<std::size_t>(tie.parameter)];
    ParameterEstimate estimate;
    estimate.name = source.name;
    estimate.unit = source.unit;
    estimate.value = source.value;
    estimate.initial = initial;
    estimate.lower = source.lower;
    estimate.upper = source.upper;
    const auto n = uncertainty.noise_covariance.rows();
    double variance = variance_of_combination(uncertainty, along);
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
    result.tied.push_back(estimate);
  }
}

}  // namespace estimator
