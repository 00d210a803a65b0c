#pragma once

#include <string>

#include "service/report/charts/chart_figure.hpp"

namespace service {

/// Returns the figure as HTML with title and caption.
std::string figure_html(const Figure& figure);

/// Divides small or large y values of a chart by a power of a thousand. The power is added to the
/// axis label, e.g. "A.J_zz [10⁻³ kg·m²]".
void scale_axis(Chart& chart, const std::string& quantity, const std::string& unit);

}  // namespace service
