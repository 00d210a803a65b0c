#pragma once

#include <string>
#include <vector>

namespace service {

/// One line of a chart. A NaN in `y` breaks the line.
struct ChartSeries {
  std::string label;      ///< in the legend; empty: not listed
  std::string css_class;  ///< colour and width, see page_style
  std::vector<double> x;  ///< increasing
  std::vector<double> y;
  bool markers = false;  ///< a dot at every point; for few points
};

struct Chart {
  std::string title;
  std::string x_label;  ///< with unit
  std::string y_label;  ///< with unit
  int width = 900;      ///< [px]
  int height = 220;     ///< [px]
  bool log_y = false;
  bool whole_x = false;  ///< x counts something: ticks at whole numbers only
  std::vector<ChartSeries> series;
};

/// The chart as an SVG element with axes, ticks, grid and legend. Lines with more points than
/// pixels are reduced to first, lowest, highest and last value of every pixel column, which draws
/// the same picture.
std::string svg_chart(const Chart& chart);

/// Ticks at 1, 2 or 5 times a power of ten within [low, high], at most `count_max`.
std::vector<double> nice_ticks(double low, double high, int count_max);

/// Points that draw the same line at a width of `columns` pixels, as indices into x and y.
std::vector<std::size_t> decimate(const std::vector<double>& x, const std::vector<double>& y,
                                  int columns);

/// Text with the characters that mean something in HTML replaced.
std::string escape_html(const std::string& text);

}  // namespace service
