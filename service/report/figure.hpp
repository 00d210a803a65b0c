#pragma once

#include <string>
#include <vector>

#include "service/report/svg_chart.hpp"

namespace service {

/// Charts side by side under one caption, with a common legend below.
struct Figure {
  std::string name;  ///< file name without extension
  std::string title;
  std::string caption;
  int columns = 2;
  std::vector<Chart> panels;  ///< row by row; the figure sets their sizes
};

/// Returns the figure as a self-contained SVG file.
std::string figure_file(const Figure& figure);

/// Returns the figure as HTML with title and caption.
std::string figure_html(const Figure& figure);

/// Divides small or large values by a power of a thousand and adds it to the y axis label: "A.J_zz
/// [10⁻³ kg·m²]".
void scale_axis(Chart& chart, const std::string& quantity, const std::string& unit);

/// Class of the i-th series of a figure, from 0; colours and dashes repeat after six.
std::string series_class(std::size_t index);

/// Marker shape of the i-th series.
MarkerShape series_shape(std::size_t index);

}  // namespace service
