#pragma once

#include <string>

#include "estimator/calibrate/law_comparison.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Describes which friction law to use, and which other laws the data cannot distinguish from it.
std::string describe_recommendation(const estimator::LawComparison& comparison);

/// Returns a comparison of friction laws as JSON (rigcal.v1.LawComparisonResult).
std::string law_comparison_json(const estimator::LawComparison& comparison,
                                const CalibrationContext& context);

}  // namespace service
