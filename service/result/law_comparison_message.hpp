#pragma once

#include <string>

#include "estimator/calibrate/law_comparison.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// What the comparison says, for people: which law to take, and what the data cannot tell.
std::string describe_choice(const estimator::LawComparison& comparison);

/// rigcal.v1.LawComparisonResult as JSON.
std::string law_comparison_json(const estimator::LawComparison& comparison,
                                const CalibrationContext& context);

}  // namespace service
