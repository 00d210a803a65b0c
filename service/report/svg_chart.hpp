#pragma once

#include <string>
#include <vector>

namespace service {

/// Shape of the points of a line, so that series differ without colour as well.
enum class MarkerShape { kCircle, kSquare, kTriangle, kDiamond };

/// One line of a chart. A NaN in `y` breaks the line.
struct ChartSeries {
  std::string label;      ///< in the legend; empty: not listed
  std::string css_class;  ///< colour and width, see page_style
  std::vector<double> x;  ///< increasing
  std::vector<double> y;
  bool markers = false;  ///< a mark at every point; for few points
  MarkerShape shape = MarkerShape::kCircle;
  std::vector<double> y_error = {};  ///< half lengths of bars at the points; empty: none
  bool aside =
      false;  ///< points alone, which do not stretch the axis: beyond it they are at its end
  std::string column = {};  ///< name and unit where its data is saved; empty: label and y axis
};

/// A stretch of x that is marked behind the lines.
struct ChartMark {
  double from, to;
  std::string text = {};  ///< told where the mark is pointed at
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
  bool log_x = false;  ///< points at x ≤ 0 are left out
  std::vector<ChartMark> marks = {};
};

/// The chart as an SVG element with axes, ticks, grid and legend. Lines with more points than
/// pixels are reduced to first, lowest, highest and last value of every pixel column, which draws
/// the same picture.
std::string svg_chart(const Chart& chart);

/// What is inside that element, for pictures of several charts.
std::string chart_content(const Chart& chart);

/// Points that draw the same line at a width of `columns` pixels, as indices into x and y.
std::vector<std::size_t> decimate(const std::vector<double>& x, const std::vector<double>& y,
                                  int columns);

/// A power of ten as axes show it: "10⁻³", "1", "10".
std::string decade_text(int exponent);

/// The key of a series for legends, 20 px wide with its left end at (x, y): line and mark.
std::string legend_key(const ChartSeries& series, double x, double y);

/// Text with the characters that mean something in HTML replaced.
std::string escape_html(const std::string& text);

}  // namespace service
