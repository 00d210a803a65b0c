#pragma once

#include <string>

#include "service/report/svg_chart.hpp"

namespace service {

/// The right-aligned names of a chart's series: beside the title as far as they fit, the others in
/// rows below it, for which the plot makes room.
struct ChartLegend {
  std::string svg;
  double height = 0.0;  ///< height of the rows below the title [px]
};

/// @param left, right  edges of the plot; the title starts left, rows end right [px]
ChartLegend chart_legend(const Chart& chart, double left, double right);

}  // namespace service
