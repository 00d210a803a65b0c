#pragma once

#include <string>

#include "service/result/result_comparison.hpp"

namespace service {

/// Formats a comparison of results as text. The first sentence gives the outcome. Two results are
/// shown with their differences; more results with their means, their drift, and a control chart of
/// each parameter that changes.
std::string format_result_comparison(const ResultComparison& comparison);

/// Returns the comparison as a self-contained HTML page with control charts of all parameters.
std::string render_result_comparison_page(const ResultComparison& comparison);

/// Returns the control charts of all parameters as an SVG file.
std::string render_control_charts(const ResultComparison& comparison);

}  // namespace service
