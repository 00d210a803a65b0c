#include "service/result/result_comparison.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

#include "estimator/math/distributions.hpp"
#include "proto/text/input_error.hpp"
#include "proto/validation.pb.h"
#include "service/result/input_changes.hpp"
#include "service/result/result_message.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::ParameterEstimate;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kSecondsPerDay = 86400.0;
/// Eigenvalues of a correlation below this share of the largest count as zero: estimates with fewer
/// degrees of freedom than parameters.
constexpr double kRankTolerance = 1e-9;

double probability_of(double chi_square, int degrees_of_freedom) {
  return degrees_of_freedom == 0
             ? 1.0
             : estimator::chi_square_tail_probability(chi_square, degrees_of_freedom);
}

const ParameterEstimate* find_estimate(const std::vector<ParameterEstimate>& estimates,
                                       const std::string& name) {
  const auto found = std::ranges::find(estimates, name, &ParameterEstimate::name);
  return found == estimates.end() ? nullptr : &*found;
}

/// Returns a result's estimate of a parameter. A dependent parameter counts only if another result
/// estimates it, because it repeats estimates that it depends on.
const ParameterEstimate* find_estimate(const StoredResult& result, const std::string& name) {
  const ParameterEstimate* const own = find_estimate(result.rig.estimates, name);
  return own != nullptr ? own : find_estimate(result.rig.dependent, name);
}

ComparedEstimate make_compared(const ParameterEstimate* estimate) {
  if (estimate == nullptr) return {};
  return {estimate->value, estimate->standard_deviation, estimate->half_interval, true,
          estimate->at_bound};
}

/// Computes mean and chi-square of one parameter's estimates.
void fill_mean(ParameterComparison& parameter) {
  double weights = 0.0, sum = 0.0;
  int count = 0;
  for (const ComparedEstimate& each : parameter.estimates) {
    if (!each.is_comparable()) continue;
    const double weight = std::pow(each.standard_deviation, -2);
    weights += weight;
    sum += weight * each.value;
    ++count;
  }
  parameter.degrees_of_freedom = std::max(count - 1, 0);
  parameter.mean = count > 0 ? sum / weights : kNone;
  parameter.mean_deviation = count > 0 ? 1.0 / std::sqrt(weights) : kNone;
  for (const ComparedEstimate& each : parameter.estimates) {
    if (!each.is_comparable()) continue;
    const double error = (each.value - parameter.mean) / each.standard_deviation;
    parameter.chi_square += error * error;
  }
}

/// Fits a line over time to one parameter's estimates, weighted by their variances.
void fill_drift(const std::vector<double>& days, ParameterComparison& parameter) {
  parameter.drift_per_day = parameter.drift_deviation = kNone;
  double weights = 0.0, mean_day = 0.0;
  int count = 0;
  for (std::size_t k = 0; k < days.size(); ++k) {
    const ComparedEstimate& each = parameter.estimates[k];
    if (!each.is_comparable()) continue;
    const double weight = std::pow(each.standard_deviation, -2);
    weights += weight;
    mean_day += weight * days[k];
    ++count;
  }
  if (count < 3) return;
  mean_day /= weights;
  double squares = 0.0, products = 0.0;
  for (std::size_t k = 0; k < days.size(); ++k) {
    const ComparedEstimate& each = parameter.estimates[k];
    if (!each.is_comparable()) continue;
    const double weight = std::pow(each.standard_deviation, -2);
    squares += weight * (days[k] - mean_day) * (days[k] - mean_day);
    products += weight * (days[k] - mean_day) * (each.value - parameter.mean);
  }
  if (!(squares > 0.0)) return;
  parameter.drift_per_day = products / squares;
  parameter.drift_deviation = 1.0 / std::sqrt(squares);
}

/// Pseudo-inverse of a covariance matrix in scaled units, with its rank.
struct Inverse {
  Eigen::MatrixXd matrix;
  int rank = 0;
};

Inverse invert(const Eigen::MatrixXd& covariance) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance);
  const Eigen::VectorXd& values = solver.eigenvalues();
  const double limit = kRankTolerance * values.maxCoeff();
  Eigen::VectorXd inverse = Eigen::VectorXd::Zero(values.size());
  Inverse result;
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    if (!(values[i] > limit)) continue;
    inverse[i] = 1.0 / values[i];
    ++result.rank;
  }
  const Eigen::MatrixXd& vectors = solver.eigenvectors();
  result.matrix = vectors * inverse.asDiagonal() * vectors.transpose();
  return result;
}

/// Returns the covariance of the chosen parameters in a result, in units of `scale`. Parameters
/// whose correlation the result lacks count as uncorrelated.
Eigen::MatrixXd covariance_of(const StoredResult& result,
                              const std::vector<const ParameterComparison*>& chosen,
                              std::size_t index, const Eigen::VectorXd& scale) {
  const auto count = static_cast<Eigen::Index>(chosen.size());
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(count, count);
  std::vector<Eigen::Index> rows;
  for (const ParameterComparison* parameter : chosen) {
    const auto& estimates = result.rig.estimates;
    const auto found = std::ranges::find(estimates, parameter->name, &ParameterEstimate::name);
    const Eigen::Index row = found - estimates.begin();
    rows.push_back(row < result.correlation.rows() ? row : -1);
  }
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < count; ++j) {
      const Eigen::Index a = rows[static_cast<std::size_t>(i)];
      const Eigen::Index b = rows[static_cast<std::size_t>(j)];
      const double known = a >= 0 && b >= 0 ? result.correlation(a, b) : 0.0;
      const double correlation = i == j ? 1.0 : std::isfinite(known) ? known : 0.0;
      covariance(i, j) = correlation *
                         chosen[static_cast<std::size_t>(i)]->estimates[index].standard_deviation *
                         chosen[static_cast<std::size_t>(j)]->estimates[index].standard_deviation /
                         (scale[i] * scale[j]);
    }
  }
  return covariance;
}

/// Computes the joint chi-square: each result is compared with the mean of all results before it,
///   d = x_k − x̄,  S = C̄ + C_k,  χ² += dᵀ S⁺ d,  x̄ += C̄ S⁺ d,
///   C̄ −= C̄ S⁺ C̄.
/// This equals the sum over all results of (x_k − x̄)ᵀ C_k⁻¹ (x_k − x̄) about their common mean. It
/// needs no inverse of a single result's covariance, which may be singular.
void fill_joint_test(const std::vector<StoredResult>& results, ResultComparison& comparison) {
  std::vector<const ParameterComparison*> chosen;
  for (const ParameterComparison& each : comparison.parameters) {
    if (std::ranges::all_of(each.estimates, &ComparedEstimate::is_comparable)) {
      chosen.push_back(&each);
    }
  }
  if (chosen.empty()) return;
  const auto count = static_cast<Eigen::Index>(chosen.size());
  Eigen::VectorXd scale(count), mean(count);
  const auto value = [&](Eigen::Index i, std::size_t k) {
    return chosen[static_cast<std::size_t>(i)]->estimates[k].value / scale[i];
  };
  for (Eigen::Index i = 0; i < count; ++i) {
    scale[i] = chosen[static_cast<std::size_t>(i)]->mean_deviation;
    mean[i] = value(i, 0);
  }
  Eigen::MatrixXd covariance = covariance_of(results[0], chosen, 0, scale);
  for (std::size_t k = 1; k < results.size(); ++k) {
    Eigen::VectorXd difference(count);
    for (Eigen::Index i = 0; i < count; ++i) difference[i] = value(i, k) - mean[i];
    const Inverse inverse = invert(covariance + covariance_of(results[k], chosen, k, scale));
    comparison.chi_square += difference.dot(inverse.matrix * difference);
    comparison.degrees_of_freedom += inverse.rank;
    const Eigen::MatrixXd gain = covariance * inverse.matrix;
    mean += gain * difference;
    covariance -= (gain * covariance).eval();
  }
}

/// Returns a time such as "2026-11-22T20:15:00Z" [s since 1970]; NaN if it is not one.
double seconds_of(const std::string& utc) {
  std::tm parts{};
  if (::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == nullptr) return kNone;
  return static_cast<double>(::timegm(&parts));
}

void sort_by_time(std::vector<StoredResult>& results) {
  std::ranges::stable_sort(results, {}, &StoredResult::recorded_at);
}

std::vector<std::string> names_in_order(const std::vector<StoredResult>& results) {
  std::vector<std::string> names;
  for (const StoredResult& result : results) {
    for (const ParameterEstimate& each : result.rig.estimates) {
      if (std::ranges::count(names, each.name) == 0) names.push_back(each.name);
    }
  }
  return names;
}

void add_parameter(const std::vector<StoredResult>& results, const std::string& name,
                   ResultComparison& comparison) {
  ParameterComparison parameter{.name = name, .unit = {}, .estimates = {}};
  std::size_t count = 0;
  std::string last;
  for (const StoredResult& result : results) {
    const ParameterEstimate* const own = find_estimate(result, name);
    parameter.estimates.push_back(make_compared(own));
    if (own == nullptr) continue;
    if (count++ > 0 && own->unit != parameter.unit) {
      comparison.omissions.push_back(
          fmt::format("{} is in {} in one result and in {} in another, so it is not compared.",
                      name, parameter.unit, own->unit));
      return;
    }
    parameter.unit = own->unit;
    last = result.file;
  }
  if (count < 2) {
    comparison.omissions.push_back(fmt::format("Only {} estimates {}.", last, name));
    return;
  }
  fill_mean(parameter);
  fill_drift(comparison.days, parameter);
  comparison.parameters.push_back(std::move(parameter));
}

}  // namespace

bool ComparedEstimate::is_comparable() const {
  return exists && !at_bound && std::isfinite(standard_deviation) && standard_deviation > 0.0;
}

double ParameterComparison::probability() const {
  return probability_of(chi_square, degrees_of_freedom);
}

double ParameterComparison::difference(std::size_t result) const {
  return estimates[result].value - estimates[0].value;
}

double ParameterComparison::difference_deviation(std::size_t result) const {
  const ComparedEstimate &one = estimates[0], &other = estimates[result];
  return one.is_comparable() && other.is_comparable()
             ? std::hypot(one.standard_deviation, other.standard_deviation)
             : kNone;
}

double ParameterComparison::difference_half_interval(std::size_t result) const {
  const ComparedEstimate &one = estimates[0], &other = estimates[result];
  return one.is_comparable() && other.is_comparable()
             ? std::hypot(one.half_interval, other.half_interval)
             : kNone;
}

bool ParameterComparison::differs(std::size_t result) const {
  return std::abs(difference(result)) > difference_half_interval(result);
}

double ParameterComparison::deviation_from_mean(std::size_t result) const {
  const ComparedEstimate& own = estimates[result];
  if (!own.is_comparable() || degrees_of_freedom == 0) return kNone;
  const double variance =
      own.standard_deviation * own.standard_deviation - mean_deviation * mean_deviation;
  return (own.value - mean) / std::sqrt(variance);
}

double ResultComparison::probability() const {
  return probability_of(chi_square, degrees_of_freedom);
}

ResultComparison compare_results(std::vector<StoredResult> results, bool by_time) {
  ResultComparison comparison;
  const bool have_times = std::ranges::all_of(results, [](const StoredResult& result) {
    return std::isfinite(seconds_of(result.recorded_at));
  });
  comparison.is_by_time = by_time && have_times;
  if (comparison.is_by_time) sort_by_time(results);
  for (std::size_t k = 0; k < results.size(); ++k) {
    const StoredResult& result = results[k];
    comparison.sources.push_back(
        {result.file, result.date, result.rig_label, result.version, result.recorded_at,
         k == 0 ? std::vector<std::string>() : find_input_changes(results[k - 1], result)});
    if (have_times) {
      comparison.days.push_back(
          (seconds_of(result.recorded_at) - seconds_of(results[0].recorded_at)) / kSecondsPerDay);
    }
    for (std::size_t other = 0; other < k; ++other) {
      comparison.have_common_recordings |= have_common_recordings(results[other], result);
    }
  }
  for (const std::string& name : names_in_order(results)) add_parameter(results, name, comparison);
  if (comparison.parameters.empty()) {
    std::string text = "the results have no estimated parameter in common";
    for (const std::string& omission : comparison.omissions) text += "\n  " + omission;
    throw proto::InputError(text);
  }
  fill_joint_test(results, comparison);
  return comparison;
}

std::string result_comparison_json(const ResultComparison& comparison) {
  rigcal::v1::ResultComparison message;
  for (const ResultComparison::Source& source : comparison.sources) {
    auto& out = *message.add_results();
    out.set_file(source.file);
    out.set_date(source.date);
    out.set_rig(source.rig);
    out.set_version(source.version);
    out.set_recorded_at(source.recorded_at);
    for (const std::string& change : source.changes) out.add_changes(change);
  }
  for (const ParameterComparison& parameter : comparison.parameters) {
    auto& out = *message.add_parameters();
    out.set_name(parameter.name);
    out.set_unit(parameter.unit);
    for (std::size_t k = 0; k < parameter.estimates.size(); ++k) {
      const ComparedEstimate& each = parameter.estimates[k];
      auto& own = *out.add_estimates();
      own.set_value(each.exists ? each.value : kNone);
      own.set_standard_deviation(each.exists ? each.standard_deviation : kNone);
      own.set_difference(each.exists && parameter.estimates[0].exists ? parameter.difference(k)
                                                                      : kNone);
      own.set_difference_standard_deviation(k == 0 ? 0.0 : parameter.difference_deviation(k));
      own.set_difference_half_interval(k == 0 ? 0.0 : parameter.difference_half_interval(k));
      own.set_deviation_from_mean(parameter.deviation_from_mean(k));
    }
    out.set_mean(parameter.mean);
    out.set_mean_standard_deviation(parameter.mean_deviation);
    out.set_chi_square(parameter.chi_square);
    out.set_degrees_of_freedom(parameter.degrees_of_freedom);
    out.set_probability(parameter.probability());
    out.set_drift_per_day(parameter.drift_per_day);
    out.set_drift_standard_deviation(parameter.drift_deviation);
  }
  message.set_chi_square(comparison.chi_square);
  message.set_degrees_of_freedom(comparison.degrees_of_freedom);
  message.set_probability(comparison.probability());
  message.set_have_common_recordings(comparison.have_common_recordings);
  for (const std::string& omission : comparison.omissions) message.add_omissions(omission);
  return format_message_json(message);
}

}  // namespace service
