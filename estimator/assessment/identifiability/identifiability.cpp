#include "estimator/assessment/identifiability/identifiability.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimator/model/encoder.hpp"

namespace estimator {
namespace {

constexpr double kAcross = 1e-3;      // relative tolerance of a combination along a null direction
constexpr double kNegligible = 1e-3;  // relative coefficient below which a term is omitted
constexpr Eigen::Index kLongestLag = 2000;
constexpr double kEvidentInflation = 2.0;  // of a variance, by autocorrelation

/// Returns a message about a direction in parameter space, without negligible coefficients.
Message describe(const Mechanism& mechanism, const std::vector<int>& requested,
                 const Eigen::VectorXd& direction) {
  const double scale = direction.cwiseAbs().maxCoeff();
  std::vector<Message> changes;
  for (std::size_t i = 0; i < requested.size(); ++i) {
    const double coefficient = direction[static_cast<Eigen::Index>(i)];
    if (std::abs(coefficient) < kNegligible * scale) continue;
    const std::string& name = parameter_at(mechanism, requested[i]).name;
    changes.push_back(
        {MessageCode::kParameterChange, {{"parameter", name}, {"change", coefficient}}});
  }
  if (changes.size() == 1) {
    return {MessageCode::kUnidentifiable, {changes.front().arguments.front()}};
  }
  return {MessageCode::kUnidentifiableChange, {{"changes", changes}}};
}

NullDirection held_direction(const Mechanism& mechanism, const std::vector<int>& requested,
                             int index) {
  const Parameter& parameter = parameter_at(mechanism, index);
  NullDirection direction;
  direction.coefficients = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(requested.size()));
  const auto position = std::find(requested.begin(), requested.end(), index) - requested.begin();
  direction.coefficients[position] = 1.0;
  direction.description = {
      MessageCode::kFixedDirection,
      {{"parameter", parameter.name}, {"value", Quantity{parameter.value, parameter.unit}}}};
  return direction;
}

}  // namespace

Uncertainty make_uncertainty(const Mechanism& mechanism, const std::vector<int>& requested,
                             const std::vector<int>& estimated,
                             const ParameterInformation& information,
                             const Eigen::VectorXd& variances,
                             const Eigen::VectorXd& half_interval) {
  const auto count = static_cast<Eigen::Index>(requested.size());
  Uncertainty result;
  result.standard_deviation.setConstant(count, std::numeric_limits<double>::infinity());
  result.half_interval = result.standard_deviation;
  result.covariance.setZero(count, count);
  result.correlation.setIdentity(count, count);
  result.at_bound.setZero(count);
  result.noise_deviation = result.standard_deviation;
  result.noise_covariance = result.covariance;
  result.scatter = result.covariance;
  result.scatter_deviation.setConstant(count, std::numeric_limits<double>::quiet_NaN());
  std::vector<Eigen::Index> where;
  for (const int index : estimated) {
    where.push_back(std::find(requested.begin(), requested.end(), index) - requested.begin());
  }
  for (const int index : requested) {
    if (std::find(estimated.begin(), estimated.end(), index) == estimated.end() &&
        !belongs_to_held_out(mechanism, index)) {
      result.null_directions.push_back(held_direction(mechanism, requested, index));
    }
  }
  if (!information.valid) return result;
  const ParameterCovariance covariance = compute_covariance(information, variances);
  for (std::size_t i = 0; i < where.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    result.standard_deviation[where[i]] = covariance.standard_deviation[row];
    result.half_interval[where[i]] = half_interval.size() > 0
                                         ? half_interval[row]
                                         : kNormalHalfWidth95 * covariance.standard_deviation[row];
    result.at_bound[where[i]] = information.at_bound[row];
    for (std::size_t k = 0; k < where.size(); ++k) {
      const auto column = static_cast<Eigen::Index>(k);
      result.covariance(where[i], where[k]) = covariance.covariance(row, column);
      result.correlation(where[i], where[k]) = covariance.correlation(row, column);
    }
  }
  result.noise_deviation = result.standard_deviation;
  result.noise_covariance = result.covariance;
  for (Eigen::Index d = 0; d < information.null_directions.cols(); ++d) {
    NullDirection direction;
    direction.coefficients = Eigen::VectorXd::Zero(count);
    for (std::size_t i = 0; i < where.size(); ++i) {
      direction.coefficients[where[i]] =
          information.null_directions(static_cast<Eigen::Index>(i), d);
    }
    direction.description = describe(mechanism, requested, direction.coefficients);
    result.null_directions.push_back(direction);
  }
  return result;
}

bool is_identifiable(const Uncertainty& uncertainty, const Eigen::VectorXd& gradient) {
  return std::ranges::all_of(uncertainty.null_directions, [&](const NullDirection& direction) {
    const Eigen::VectorXd parts = gradient.cwiseProduct(direction.coefficients);
    return std::abs(parts.sum()) <= kAcross * parts.cwiseAbs().maxCoeff();
  });
}

double variance_of_combination(const Uncertainty& uncertainty, const Eigen::VectorXd& direction) {
  const double noise = direction.dot(uncertainty.noise_covariance * direction);
  if (!uncertainty.disagree) return noise;
  return std::max(noise, direction.dot(uncertainty.scatter * direction));
}

Eigen::VectorXd group_variances(const ParameterInformation& information, double angle_noise) {
  if (!information.valid) return {};
  Eigen::VectorXd variances(static_cast<Eigen::Index>(information.groups.size()));
  for (std::size_t g = 0; g < information.groups.size(); ++g) {
    const GroupStatistics& group = information.groups[g];
    const double redundancy = group.rows - group.effective_parameters;
    variances[static_cast<Eigen::Index>(g)] = redundancy > 0.5 ? group.cost / redundancy : 0.0;
  }
  variances[variances.size() - 1] = angle_noise * angle_noise;
  return variances;
}

double correlation_inflation(const std::vector<Eigen::VectorXd>& residuals) {
  double inflation = 1.0, variance = 0.0;
  for (Eigen::Index lag = 0; lag <= kLongestLag; ++lag) {
    double sum = 0.0;
    Eigen::Index count = 0;
    for (const Eigen::VectorXd& series : residuals) {
      for (Eigen::Index k = lag; k < series.size(); ++k) {
        const double product = series[k] * series[k - lag];
        if (std::isnan(product)) continue;
        sum += product;
        ++count;
      }
    }
    // Sums, not means: the usual biased estimate, which damps noise at long lags.
    if (lag == 0) {
      variance = sum;
      if (!(variance > 0.0)) return 1.0;
      continue;
    }
    // Skip lags without any pair of samples (sparse observations on a finer grid).
    if (count == 0) continue;
    if (sum <= 0.0) break;
    inflation += 2.0 * sum / variance;
  }
  return inflation;
}

void inflate_for_correlation(const Mechanism& mechanism,
                             const std::vector<std::vector<Eigen::VectorXd>>& errors,
                             Eigen::VectorXd& variances, std::vector<Message>& notes) {
  const std::vector<Encoder> sensors = used_encoders(mechanism);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    const double inflation = correlation_inflation(errors[i]);
    variances[static_cast<Eigen::Index>(i)] *= inflation;
    if (inflation < kEvidentInflation) continue;
    notes.push_back({MessageCode::kInflatedForCorrelation,
                     {{"encoder", sensors[i].name}, {"factor", std::sqrt(inflation)}}});
  }
}

}  // namespace estimator
