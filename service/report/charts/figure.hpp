#pragma once

#include <string>
#include <vector>

#include "service/report/charts/svg_chart.hpp"

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

/// Returns the figure as an SVG element for a page.
std::string figure_svg(const Figure& figure);

/// Returns the CSS class of the series with this index, from 0, in a figure. Colours and dashes
/// repeat after six series.
std::string series_class(std::size_t index);

/// Returns the marker shape of the series with this index, from 0, in a figure.
MarkerShape series_shape(std::size_t index);

}  // namespace service
