#pragma once

#include <string>
#include <vector>

namespace service {

/// Marker shape of a line, so that series also differ without colour.
enum class MarkerShape { kCircle, kSquare, kTriangle, kDiamond };

/// One line of a chart. A NaN in `y` breaks the line.
struct ChartSeries {
  std::string label;      ///< in the legend; empty: not listed
  std::string css_class;  ///< sets colour and width, see page_style
  std::vector<double> x;  ///< increasing
  std::vector<double> y;
  bool markers = false;  ///< mark every point; for few points
  MarkerShape shape = MarkerShape::kCircle;
  std::vector<double> y_error = {};  ///< half lengths of error bars; empty: none
  bool excluded_from_range =
      false;                ///< points only; they do not extend the axis but are drawn at its end
  std::string column = {};  ///< title in saved data, with unit; empty: label and y axis
};

/// An interval of x that is marked behind the lines.
struct ChartMark {
  double from, to;
  std::string text = {};  ///< shown when the pointer is on the mark
};

struct Chart {
  std::string title;
  std::string x_label;  ///< with unit
  std::string y_label;  ///< with unit
  int width = 900;      ///< [px]
  int height = 220;     ///< [px]
  bool log_y = false;
  bool integer_x = false;  ///< x is a count: ticks at integers only
  std::vector<ChartSeries> series;
  bool log_x = false;  ///< points at x ≤ 0 are omitted
  std::vector<ChartMark> marks = {};
};

/// Returns the chart as an SVG element with axes, ticks, grid and legend. A line with more points
/// than pixels is reduced to the first, lowest, highest and last value per pixel column, which
/// draws the same picture.
std::string svg_chart(const Chart& chart);

/// Returns the contents of that element, for pictures of several charts.
std::string chart_content(const Chart& chart);

/// Returns the indices of points that draw the same line at a width of `columns` pixels.
std::vector<std::size_t> decimate(const std::vector<double>& x, const std::vector<double>& y,
                                  int columns);

/// Formats a power of ten for axes: "10⁻³", "1", "10".
std::string decade_text(int exponent);

/// Draws a legend's line and mark, 20 px wide with its left end at (x, y).
std::string legend_key(const ChartSeries& series, double x, double y);

/// Replaces HTML's special characters.
std::string escape_html(const std::string& text);

}  // namespace service
