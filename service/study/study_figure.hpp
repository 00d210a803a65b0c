#pragma once

#include <string>
#include <vector>

#include "service/report/svg_chart.hpp"

namespace service {

/// Charts side by side under one caption, with one legend below them.
struct StudyFigure {
  std::string name;  ///< of its file, without ending
  std::string title;
  std::string caption;
  int columns = 2;
  std::vector<Chart> panels;  ///< row by row; their sizes are set by the figure
};

/// The figure as an SVG file that needs nothing else.
std::string figure_file(const StudyFigure& figure);

/// The figure for a page, with title and caption.
std::string figure_html(const StudyFigure& figure);

/// Divides the values of small or large quantities by a power of a thousand and labels the y axis
/// with it: "A.J_zz [10⁻³ kg·m²]".
void scale_axis(Chart& chart, const std::string& quantity, const std::string& unit);

/// Class of the i-th series of a figure, from 0; colours and dashes repeat after six.
std::string series_class(std::size_t index);

/// Shape of its marks.
MarkerShape series_shape(std::size_t index);

}  // namespace service
