#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"

namespace service {

/// One parameter of a repeated calibration.
struct RepeatedParameter {
  std::string name;
  std::string unit;
  double before = 0.0;
  double now = 0.0;
  double deviation = 0.0;   ///< standard deviation of `before`
  double difference = 0.0;  ///< |now − before| [deviations]; infinite if one is missing
};

/// A calibration counts as repeated if estimates differ by at most this many standard deviations.
/// Differences in rounding between programs or processors are smaller and do not matter in use.
inline constexpr double kRepeatTolerance = 0.01;

/// Compares parameters in the order of `before`, followed by new ones.
std::vector<RepeatedParameter> compare_repetition(
    const std::vector<estimator::ParameterEstimate>& before,
    const std::vector<estimator::ParameterEstimate>& now);

/// False if a difference is too large or NaN.
bool is_repeated(const std::vector<RepeatedParameter>& parameters);

/// Formats the comparison for people; the first line states the outcome.
std::string format_repetition(const std::vector<RepeatedParameter>& parameters);

}  // namespace service
