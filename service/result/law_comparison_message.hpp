#pragma once

#include <string>

#include "estimator/calibrate/law_comparison.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Returns which friction law to use, and which others the data cannot distinguish from it.
std::string describe_recommendation(const estimator::LawComparison& comparison);

/// Returns rigcal.v1.LawComparisonResult as JSON.
std::string law_comparison_json(const estimator::LawComparison& comparison,
                                const CalibrationContext& context);

}  // namespace service
