#pragma once

#include <string>

#include "service/result/validation_message.hpp"

namespace service {

/// Formats a comparison of friction laws as text. The laws are sorted by their error on held-out
/// data, followed by the recommended law.
std::string format_friction_comparison(const estimator::FrictionLawComparison& comparison,
                                       double wall_time);

/// Returns a comparison of friction laws as a self-contained HTML page, with the error of each law
/// on each held-out part.
std::string render_friction_comparison_page(const estimator::FrictionLawComparison& comparison,
                                            const CalibrationMetadata& context);

}  // namespace service
