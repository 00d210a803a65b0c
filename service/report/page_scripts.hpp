#pragma once

#include <string>

namespace service {

/// Style sheet of interactive charts, uPlot's.
const std::string& chart_style();

/// Scripts that make the figures of a page interactive, as elements of HTML: uPlot with its
/// licence, and the page's own (web/charts.js). No external resources.
const std::string& page_scripts();

}  // namespace service
