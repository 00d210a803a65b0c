#pragma once

#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "service/calibration/simulation_truth.hpp"

namespace service {

/// Formats a table that compares estimates with the true parameter values of a simulated rig. It
/// has the true value, the estimate, the standard deviation, and the error. The error is given in
/// standard deviations, and in percent of a nonzero true value. Parameters without a true value are
/// omitted.
/// @throws proto::InputError if no parameter has a true value
std::string format_truth_comparison(const std::vector<estimator::ParameterEstimate>& estimates,
                                    const TrueParameters& truth);

/// Estimate of a parameter before and after a calibration was repeated.
struct RepeatedEstimate {
  std::string name;
  std::string unit;
  double before = 0.0;
  double now = 0.0;
  double deviation = 0.0;   ///< standard deviation of `before`
  double difference = 0.0;  ///< |now − before| / deviation; infinite if one is missing
};

/// Largest difference between the estimates of two calibrations that counts as a successful
/// repetition [standard deviations]. Rounding differences between programs or processors are
/// smaller.
inline constexpr double kRepeatTolerance = 0.01;

/// Compares the parameters of two calibrations. The result has the order of `before`, followed by
/// the parameters that only `now` contains.
std::vector<RepeatedEstimate> compare_repeated_estimates(
    const std::vector<estimator::ParameterEstimate>& before,
    const std::vector<estimator::ParameterEstimate>& now);

/// Returns whether all estimates of a repeated calibration differ by at most kRepeatTolerance.
/// Returns false if a difference is NaN.
bool is_repetition_successful(const std::vector<RepeatedEstimate>& parameters);

/// Formats the comparison of a repeated calibration as text. The first line gives the outcome.
std::string format_repetition(const std::vector<RepeatedEstimate>& parameters);

}  // namespace service
