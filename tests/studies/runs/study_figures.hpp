#pragma once

#include <string>
#include <vector>

#include "service/report/charts/chart_figure.hpp"

namespace service {

/// Figure of charts in rows and columns, with one caption and a common legend below them.
struct Figure {
  std::string name;  ///< file name without extension
  std::string title;
  std::string caption;
  int columns = 2;            ///< charts per row
  std::vector<Chart> panels;  ///< charts row by row; the figure sets their sizes
};

/// Returns the figure as a self-contained SVG file.
std::string figure_file(const Figure& figure);

/// Returns the figure as HTML with title and caption.
std::string figure_html(const Figure& figure);

/// Divides small or large y values of a chart by a power of a thousand. The power is added to the
/// axis label, e.g. "A.J_zz [10⁻³ kg·m²]".
void scale_axis(Chart& chart, const std::string& quantity, const std::string& unit);

}  // namespace service
