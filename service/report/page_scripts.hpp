#pragma once

#include <string>

namespace service {

/// Style and scripts that make the figures of a page interactive, as elements of HTML: uPlot with
/// its licence, and the page's own (web/charts.js). No external resources.
const std::string& page_scripts();

}  // namespace service
