#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"

namespace service {

/// One parameter of a calibration that was repeated.
struct RepeatedParameter {
  std::string name;
  std::string unit;
  double before = 0.0;
  double now = 0.0;
  double deviation = 0.0;   ///< standard deviation of before
  double difference = 0.0;  ///< of now from before [deviations]; infinite where one is missing
};

/// Estimates may differ by this many standard deviations where programs or processors round
/// otherwise, and the calibration counts as repeated: it is nothing to anyone who uses them.
inline constexpr double kRepeatedWithin = 0.01;

/// In the order of before; then those that were not there before.
std::vector<RepeatedParameter> compare_repetition(
    const std::vector<estimator::ParameterEstimate>& before,
    const std::vector<estimator::ParameterEstimate>& now);

/// False where a difference is larger, or no number.
bool is_repeated(const std::vector<RepeatedParameter>& parameters);

/// The comparison for people, with a line on top that says how it ended.
std::string format_repetition(const std::vector<RepeatedParameter>& parameters);

}  // namespace service
