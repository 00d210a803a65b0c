#pragma once

#include <string>

#include "service/result/law_comparison_message.hpp"

namespace service {

/// Formats a comparison of friction laws: laws by held-out error, and the recommended one.
std::string format_friction_comparison(const estimator::LawComparison& comparison,
                                       double wall_time);

/// Returns it as one self-contained HTML page, with the errors of every piece.
std::string friction_comparison_page(const estimator::LawComparison& comparison,
                                     const CalibrationContext& context);

}  // namespace service
