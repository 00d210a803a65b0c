#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "service/report/charts/svg_chart.hpp"

namespace service {

/// Figure of charts that share one x axis, with a name and a caption.
struct ChartFigure {
  std::string name;     ///< file name without extension for saved data and pictures
  std::string caption;  ///< one or more sentences describing the figure
  std::vector<Chart> charts;
  /// Maximum number of data rows in the page. More rows are reduced to the first, lowest, highest
  /// and last value of each column per interval, and the caption says so.
  std::size_t rows_max = std::numeric_limits<std::size_t>::max();
};

/// Returns the figure as HTML with static pictures and the data. The pictures are for paper and for
/// browsers without scripts. From the data, the page's script (web/charts.js) draws zoomable charts
/// and saves CSV and SVG. The rows of the data are the union of the x values of all series.
std::string chart_figure(const ChartFigure& figure);

/// Returns a figure with a static picture as HTML, with its data as CSV text to be saved.
/// @param picture  HTML that contains SVG elements
/// @param caption  caption as HTML
std::string data_figure(const std::string& picture, const std::string& name, const std::string& csv,
                        const std::string& caption);

/// Start tag of the HTML script element that contains the data of a figure.
inline constexpr const char* kFigureData = "<script type=\"application/json\" class=\"data\">";

}  // namespace service
