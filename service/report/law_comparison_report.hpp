#pragma once

#include <string>

#include "service/result/law_comparison_message.hpp"

namespace service {

/// A comparison of friction laws for people: the laws by held-out error, and which one to take.
std::string format_law_comparison(const estimator::LawComparison& comparison, double wall_time);

/// The same as one self-contained HTML page, with the errors of every piece.
std::string law_comparison_page(const estimator::LawComparison& comparison,
                                const CalibrationContext& context);

}  // namespace service
