#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "service/report/svg_chart.hpp"

namespace service {

/// Charts that share one x axis.
struct ChartFigure {
  std::string name;     ///< file name, without extension, for saved data and pictures
  std::string caption;  ///< one or more sentences describing the figure
  std::vector<Chart> charts;
  /// Maximum number of data rows in the page. Beyond it the rows are reduced to the first, lowest,
  /// highest and last value of each column per interval; the caption reports this.
  std::size_t rows_max = std::numeric_limits<std::size_t>::max();
};

/// Returns the figure as HTML: static pictures for paper and for readers without scripts, and the
/// data. From the data the page's script (web/charts.js) draws zoomable charts and saves CSV and
/// SVG. Series with different x are placed on the union of all x.
std::string chart_figure(const ChartFigure& figure);

/// Returns a static picture as HTML, with the CSV text that its data is saved as.
/// @param picture  HTML that contains SVG elements
/// @param caption  HTML
std::string data_figure(const std::string& picture, const std::string& name, const std::string& csv,
                        const std::string& caption);

/// Start tag of a script element with a figure's data.
inline constexpr const char* kFigureData = "<script type=\"application/json\" class=\"data\">";

}  // namespace service
