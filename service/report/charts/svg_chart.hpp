#pragma once

#include <string>
#include <vector>

#include "service/text/svg_elements.hpp"

namespace service {

/// Shape of the markers of a data series, so that series can be distinguished without colour.
enum class MarkerShape { kCircle, kSquare, kTriangle, kDiamond };

/// Data series of a chart, drawn as a line. A NaN in `y` interrupts the line.
struct ChartSeries {
  std::string label;      ///< text in the legend; empty: not in the legend
  std::string css_class;  ///< CSS class for colour and width, see page_style_sheet
  std::vector<double> x;  ///< increasing
  std::vector<double> y;
  bool markers = false;  ///< draw a marker at every point
  MarkerShape shape = MarkerShape::kCircle;
  std::vector<double> y_error = {};  ///< half lengths of error bars; may be empty
  bool excluded_from_range = false;  ///< draw points only, at the axis end if beyond the axis range
  std::string column = {};           ///< column title in saved data; may be empty
};

/// Interval of x that a chart highlights in the background.
struct ChartHighlight {
  double from, to;
  std::string text = {};  ///< tooltip
  bool is_note = false;   ///< for information only, without the colour of a warning
};

/// Chart with axes and data series.
struct Chart {
  std::string title;
  std::string x_label;  ///< label of the x axis, with unit
  std::string y_label;  ///< label of the y axis, with unit
  int width = 900;      ///< [px]
  int height = 220;     ///< [px]
  bool log_y = false;
  bool integer_x = false;  ///< ticks at integers only, for counts
  std::vector<ChartSeries> series;
  bool log_x = false;  ///< points at x ≤ 0 are omitted
  std::vector<ChartHighlight> marks = {};
};

/// Returns a data series that is a line.
/// @param column  title of its column in saved data
ChartSeries make_line_series(const std::string& label, const std::string& css_class,
                             const std::vector<double>& x, std::vector<double> y,
                             const std::string& column = "");

/// Returns a chart over time.
Chart make_time_chart(const std::string& title, const std::string& y_label,
                      std::vector<ChartSeries> series, int height = 220);

/// Returns the chart as an SVG element with axes, ticks, grid and legend. A line with more points
/// than pixels is reduced to the first, lowest, highest and last value per pixel column. The
/// reduction does not change the appearance of the line.
std::string render_chart(const Chart& chart);

/// Returns the SVG elements of a chart without the enclosing svg element, for pictures with several
/// charts.
std::string render_chart_elements(const Chart& chart);

/// Returns the indices of points that are sufficient to draw a line. At a width of `columns`
/// pixels, the line looks the same as with all points.
std::vector<std::size_t> select_points_to_draw(const std::vector<double>& x,
                                               const std::vector<double>& y, int columns);

/// Returns the SVG of a legend entry's line and marker, 20 px wide with the left end at (x, y).
std::string render_legend_entry(const ChartSeries& series, double x, double y);

}  // namespace service
