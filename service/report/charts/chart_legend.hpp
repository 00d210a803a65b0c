#pragma once

#include <string>

#include "service/report/charts/svg_chart.hpp"

namespace service {

/// Legend of a chart with the names of its series, right-aligned. Names that fit are on the line of
/// the title, the others in rows below the title. The plot area shrinks to make room for the rows.
struct ChartLegend {
  std::string svg;
  double height = 0.0;  ///< height of the rows below the title [px]
};

/// Returns the legend of a chart.
/// @param left, right  edges of the plot [px]; the title starts at `left`, rows end at `right`
ChartLegend chart_legend(const Chart& chart, double left, double right);

}  // namespace service
