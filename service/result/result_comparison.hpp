#pragma once

#include <string>
#include <vector>

#include "service/result/stored_result.hpp"

namespace service {

/// Estimate of one parameter in one of several results.
struct ComparedEstimate {
  double value = 0.0;
  double standard_deviation = 0.0;
  double half_interval = 0.0;
  bool exists = false;    ///< the result estimates the parameter
  bool at_bound = false;  ///< the estimate is at a bound, so that it has no symmetric interval

  /// Returns whether the estimate has a finite standard deviation and is not at a bound.
  bool is_comparable() const;
};

/// Estimates of one parameter in all results.
struct ParameterComparison {
  std::string name, unit;
  std::vector<ComparedEstimate> estimates;  ///< one per result

  // Over the comparable estimates; NaN if there is none.
  double mean = 0.0;            ///< weighted by the inverse variances
  double mean_deviation = 0.0;  ///< standard deviation of `mean`
  double chi_square = 0.0;      ///< squared differences from the mean, over the variances
  int degrees_of_freedom = 0;   ///< number of comparable estimates minus 1; 0: nothing to compare
  /// Slope over time [unit/day] and its standard deviation; NaN with fewer than three times.
  double drift_per_day = 0.0, drift_deviation = 0.0;

  /// Returns the probability of a chi-square at least this large if the parameter has not changed.
  double probability() const;
  /// Returns the difference between the estimates of a result and of the first result, the standard
  /// deviation of this difference, and the half-width of its 95 % interval; NaN if the two
  /// estimates are not comparable.
  double difference(std::size_t result) const;
  double difference_deviation(std::size_t result) const;
  double difference_half_interval(std::size_t result) const;
  /// Returns whether the 95 % interval of the difference excludes zero.
  bool differs(std::size_t result) const;
  /// Returns the distance of an estimate from the mean of all estimates, in standard deviations of
  /// this distance; NaN if it is not comparable.
  double deviation_from_mean(std::size_t result) const;
};

/// Distance from the mean beyond which a control chart marks an estimate [standard deviations].
inline constexpr double kControlLimit = 3.0;
/// Probability below which results do not agree.
inline constexpr double kAgreementProbability = 0.01;

/// Comparison of several calibrations of the same rig.
struct ResultComparison {
  struct Source {
    std::string file, date, rig, version;
    std::string recorded_at;           ///< time of the first recording; empty if unknown
    /// Changes of rig file and options since the previous result.
    std::vector<std::string> changes;
  };
  std::vector<Source> sources;
  bool is_by_time = false;   ///< the results are in the order of their recordings
  std::vector<double> days;  ///< time of each result since the first [day]; empty: unknown
  std::vector<ParameterComparison> parameters;  ///< estimated by at least two results
  std::vector<std::string> omissions;           ///< sentences on parameters that are not compared
  bool have_common_recordings = false;

  /// Chi-square of the hypothesis that all results estimate the same values, with the correlations
  /// of each result, over the parameters that are comparable in all results.
  double chi_square = 0.0;
  int degrees_of_freedom = 0;

  double probability() const;
};

/// Compares results in their order, or in the order of their recordings if all of them have a time
/// and `by_time` is true.
/// @throws proto::InputError if the results have no estimated parameter in common
ResultComparison compare_results(std::vector<StoredResult> results, bool by_time);

/// Returns the comparison as JSON (rigcal.v1.ResultComparison).
std::string result_comparison_json(const ResultComparison& comparison);

}  // namespace service
