#pragma once

#include <string>

namespace service {

/// Returns uPlot's style sheet for interactive charts.
const std::string& chart_style();

/// Returns the HTML script elements that make figures interactive: uPlot with its licence, and the
/// script web/charts.js. They need no external resources.
const std::string& page_scripts();

}  // namespace service
