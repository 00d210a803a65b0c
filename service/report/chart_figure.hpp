#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "service/report/svg_chart.hpp"

namespace service {

/// Charts over one x that are looked at together.
struct ChartFigure {
  std::string name;  ///< of the files that data and picture may be saved as, without an extension
  std::string caption;  ///< one sentence or more: what is drawn, and of what
  std::vector<Chart> charts;
  /// Most rows of data that the page holds; of more, the first, lowest, highest and last of every
  /// column of as many as fit, which the caption says.
  std::size_t rows_max = std::numeric_limits<std::size_t>::max();
};

/// The figure in HTML: pictures for paper and for readers without scripts; the data behind them,
/// from which the page's script (web/charts.js) draws charts to zoom into and saves CSV and SVG.
/// Series over another x than the first are put on the union of all.
std::string chart_figure(const ChartFigure& figure);

/// A picture that is not drawn anew, and the CSV that its data is saved as.
/// @param picture  HTML with SVG elements in it
/// @param caption  HTML
std::string data_figure(const std::string& picture, const std::string& name, const std::string& csv,
                        const std::string& caption);

/// What a script element with the data of a figure begins with.
inline constexpr const char* kFigureData = "<script type=\"application/json\" class=\"data\">";

}  // namespace service
