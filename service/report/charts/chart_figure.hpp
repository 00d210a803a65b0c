#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "service/report/charts/svg_chart.hpp"

namespace service {

/// Figure of charts that share one x axis, with a name and a caption.
struct ChartFigure {
  std::string name;     ///< file name without extension for saved data and pictures
  std::string caption;  ///< one or more sentences describing the figure
  std::vector<Chart> charts;
  /// Maximum number of data rows in the page. If there are more rows, each interval is reduced to
  /// the first, lowest, highest and last value of each column, and the caption mentions the
  /// reduction.
  std::size_t rows_max = std::numeric_limits<std::size_t>::max();
};

/// Returns the figure as HTML with static pictures and the data. The pictures are for paper and for
/// browsers without scripts. From the data, the page's script (web/charts.js) draws zoomable charts
/// and saves CSV and SVG. The rows of the data are the union of the x values of all series.
std::string render_chart_figure(const ChartFigure& figure);

/// Returns an HTML figure with a static picture and with data as CSV text, which the reader can
/// save.
/// @param picture  HTML that contains SVG elements
/// @param caption  caption as HTML
std::string render_data_figure(const std::string& picture, const std::string& name,
                               const std::string& csv, const std::string& caption);

/// Start tag of the HTML script element that contains the data of a figure.
inline constexpr const char* kFigureData = "<script type=\"application/json\" class=\"data\">";

/// Formats text as a JSON string, in quotes. The special characters of HTML are escaped, e.g. as
/// \u003c, so that the text cannot end an HTML script element that contains the string.
std::string format_json_string(const std::string& text);

/// Formats a number as JSON in the shortest form that parses to the same number; null if the number
/// is not finite.
std::string format_json_number(double value);

/// Formats numbers for the page's script as a JSON object, in one of these forms:
///   {"from": a, "step": b, "count": n}   evenly spaced numbers
///   {"values": [1, null]}                few numbers
///   {"f32": base64}                      many numbers in single precision (seven digits)
///   {"f64": base64}                      many numbers in double precision
/// Base64 contains little-endian IEEE 754 numbers. Missing numbers are NaN or null.
std::string format_json_axis_values(
    const std::vector<double>& values);                             ///< for increasing x values
std::string format_json_values(const std::vector<double>& values);  ///< for y values

/// Returns whether values are evenly spaced: their successive differences are equal to within a
/// millionth.
bool is_evenly_spaced(const std::vector<double>& values);

/// Encodes bytes as Base64 (RFC 4648).
std::string encode_base64(const std::string& bytes);

/// Returns a self-contained SVG file with the style sheet of reports.
/// @param content  SVG elements
std::string render_svg_file(const std::string& title, int width, int height,
                            const std::string& content);

/// Returns an SVG file that shows charts of equal size, one above the other. The titles of several
/// charts get the prefixes "(a)", "(b)" and so on.
std::string render_chart_file(const std::string& title, std::vector<Chart> charts);

/// Returns the CSS class of a data series, given its index in the figure (from 0). Colours and
/// dashes repeat after six series.
std::string series_css_class(std::size_t index);

/// Returns the marker shape of a data series, given its index in the figure (from 0).
MarkerShape series_marker_shape(std::size_t index);

}  // namespace service
