#pragma once

#include <string>

namespace service {

/// Returns the style sheet of HTML reports (web/page.css). Pages are light or dark by the reader's
/// preference, and light on paper. Colours are from the colour-blind-safe set of Okabe and Ito.
const std::string& page_style();

/// Returns uPlot's style sheet for interactive charts.
const std::string& chart_style();

/// Returns the HTML script elements that make figures interactive: uPlot with its licence, and the
/// script web/charts.js. They need no external resources.
const std::string& page_scripts();

}  // namespace service
