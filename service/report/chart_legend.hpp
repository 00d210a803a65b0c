#pragma once

#include <string>

#include "service/report/svg_chart.hpp"

namespace service {

/// The names of a chart's series, right-aligned: beside the title what fits there, what does not in
/// rows below, for which the plot makes room.
struct ChartLegend {
  std::string svg;
  double height = 0.0;  ///< of the rows below [px]
};

/// @param left, right  of the plot, over which the title begins and the rows end [px]
ChartLegend chart_legend(const Chart& chart, double left, double right);

}  // namespace service
