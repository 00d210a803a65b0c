#include "service/report/charts/svg_chart.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "proto/notation/axis_ticks.hpp"
#include "service/text/number_format.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

constexpr double kLegendKey = 26.0;    // width of a key and the gap to its name
constexpr double kLegendGap = 10.0;    // between entries
constexpr double kLegendFirst = 18.0;  // baseline of the first row
constexpr double kLegendRow = 17.0;
constexpr double kLegendCharacter = 7.4;       // generous width per character of names at 12 px
constexpr double kLegendTitleCharacter = 8.6;  // the same for the title at 13 px bold

using LegendRow = std::vector<const ChartSeries*>;

double entry_width(const ChartSeries& series) {
  return kLegendCharacter * display_width(series.label) + kLegendKey;
}

std::vector<LegendRow> legend_rows(const Chart& chart, double whole) {
  std::vector<LegendRow> rows(1);
  double room = whole - kLegendTitleCharacter * display_width(chart.title);
  for (const ChartSeries& series : chart.series) {
    if (series.label.empty()) continue;
    const double width = entry_width(series) + kLegendGap;
    if (width > room && room < whole) {
      rows.emplace_back();
      room = whole;
    }
    rows.back().push_back(&series);
    room -= width;
  }
  return rows;
}

/// Legend of a chart with the names of its series, right-aligned. Names that fit are on the line of
/// the title, the others in rows below the title. The plot area shrinks to make room for the rows.
struct ChartLegend {
  std::string svg;
  double height = 0.0;  ///< height of the rows below the title [px]
};

/// Returns the legend of a chart.
/// @param left, right  edges of the plot [px]; the title starts at `left`, rows end at `right`
ChartLegend chart_legend(const Chart& chart, double left, double right) {
  const std::vector<LegendRow> rows = legend_rows(chart, right - left);
  ChartLegend legend;
  double y = kLegendFirst;
  for (const LegendRow& row : rows) {
    double x = right;
    for (auto entry = row.rbegin(); entry != row.rend(); ++entry) {
      x -= entry_width(**entry);
      legend.svg += svg_text(x + kLegendKey, y, "start", "tick", (*entry)->label);
      legend.svg += render_legend_entry(**entry, x, y - 4.0);
      x -= kLegendGap;
    }
    y += kLegendRow;
  }
  legend.height = kLegendRow * static_cast<double>(rows.size() - 1);
  return legend;
}

constexpr int kMarginLeft = 74;
constexpr int kMarginRight = 14;
constexpr int kMarginTop = 30;
constexpr int kMarginBottom = 42;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void widen(double fraction) {
    constexpr double kNoise = 1e-9;  // relative to the values; smaller variation counts as constant
    if (!(low <= high)) *this = {0.0, 1.0};
    const double size =
        high - low > kNoise * std::max(std::abs(low), std::abs(high)) ? high - low : 0.0;
    const double pad = size > 0.0 ? fraction * size : (high == 0.0 ? 1.0 : 0.1 * std::abs(high));
    low -= pad;
    high += pad;
  }
};

/// Plot area of a chart, which maps data to pixels.
class Plane {
 public:
  explicit Plane(const Chart& chart) : chart_(chart) {
    for (const ChartSeries& series : chart.series) {
      for (std::size_t k = 0; k < series.x.size(); ++k) {
        const double x = transform_x(series.x[k]);
        if (!std::isfinite(x)) continue;
        x_.include(x);
        if (!series.excluded_from_range) y_.include(transform(series.y[k]));
      }
      include_bars(series);
    }
    x_.widen(chart.log_x ? 0.03 : 0.0);
    y_.widen(0.06);
  }

  double left() const { return kMarginLeft; }
  double right() const { return chart_.width - kMarginRight; }
  double top() const { return top_; }
  void move_top(double top) { top_ = top; }
  double bottom() const { return chart_.height - kMarginBottom; }
  double transform(double y) const { return chart_.log_y ? std::log10(y) : y; }
  double transform_x(double x) const { return chart_.log_x ? std::log10(x) : x; }
  /// Maps an x value that `transform_x` returned to pixels.
  double to_x(double x) const {
    return left() + (x - x_.low) / (x_.high - x_.low) * (right() - left());
  }
  /// Maps a y value that `transform` returned to pixels.
  double to_y(double y) const {
    return bottom() - (y - y_.low) / (y_.high - y_.low) * (bottom() - top());
  }
  const Range& x_range() const { return x_; }
  const Range& y_range() const { return y_; }

 private:
  /// Extends the y axis to include error bars. The extension on each side is at most the range of
  /// the points, so that a very long error bar does not compress the rest.
  void include_bars(const ChartSeries& series) {
    if (series.y_error.empty()) return;
    Range points;
    for (const double y : series.y) points.include(y);
    const double reach = points.high - points.low;
    for (std::size_t k = 0; k < series.y.size(); ++k) {
      y_.include(transform(std::max(series.y[k] - series.y_error[k], points.low - reach)));
      y_.include(transform(std::min(series.y[k] + series.y_error[k], points.high + reach)));
    }
  }

  const Chart& chart_;
  double top_ = kMarginTop;
  Range x_;
  Range y_;
};

struct Tick {
  double at;  // in transformed coordinates
  std::string text;
};

struct AxisTicks {
  std::vector<Tick> ticks;
  std::string offset;  // subtracted from all texts, see notation::TickLabels
};

AxisTicks texts_at(const std::vector<double>& values, bool logarithmic) {
  const notation::TickLabels reported = notation::format_tick_labels(values);
  AxisTicks axis{.ticks = {}, .offset = reported.offset};
  for (std::size_t k = 0; k < values.size(); ++k) {
    axis.ticks.push_back({logarithmic ? std::log10(values[k]) : values[k], reported.texts[k]});
  }
  return axis;
}

/// Formats factor · 10^exponent as a plain number from 0.001 to 9999, otherwise e.g. as "5·10⁻⁸".
std::string factor_text(double factor, int exponent) {
  if (exponent >= -3 && exponent < 4) return format_number(factor * std::pow(10.0, exponent), 4);
  return factor == 1.0 ? format_power_of_ten(exponent)
                       : format_number(factor, 1) + "·" + format_power_of_ten(exponent);
}

/// Returns the ticks of a logarithmic axis. Ticks are at powers of ten; for up to two decades also
/// at 2 and 5 times these; for less than one decade they are linear.
AxisTicks log_ticks(const Range& range, double count_max) {
  AxisTicks axis;
  const double span = range.high - range.low;
  if (span >= 1.0 && span <= 2.1) {
    for (double decade = std::floor(range.low); decade <= range.high; decade += 1.0) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double at = decade + std::log10(factor);
        if (at < range.low || at > range.high) continue;
        axis.ticks.push_back({at, factor_text(factor, static_cast<int>(decade))});
      }
    }
    return axis;
  }
  const double stride = std::max(1.0, std::ceil(span / count_max));
  for (double decade = std::ceil(range.low); decade <= range.high; decade += stride) {
    axis.ticks.push_back({decade, format_power_of_ten(static_cast<int>(decade))});
  }
  if (axis.ticks.size() >= 2) return axis;
  std::vector<double> values =
      notation::choose_axis_ticks(std::pow(10.0, range.low), std::pow(10.0, range.high), 6);
  std::erase_if(values, [](double value) { return !(value > 0.0); });
  return texts_at(values, true);
}

AxisTicks x_ticks(const Chart& chart, const Plane& plane) {
  const Range& range = plane.x_range();
  const int room = std::clamp(chart.width / 75, 3, 12);
  if (chart.log_x) return log_ticks(range, room);
  const double span = range.high - range.low;
  const int ticks_max =
      chart.integer_x ? std::min(static_cast<int>(std::max(span, 1.0)), room) : room;
  return texts_at(notation::choose_axis_ticks(range.low, range.high, ticks_max), false);
}

AxisTicks y_ticks(const Chart& chart, const Plane& plane) {
  const Range& range = plane.y_range();
  if (chart.log_y) return log_ticks(range, 6.0);
  return texts_at(notation::choose_axis_ticks(range.low, range.high, 6), false);
}

std::string axes(const Chart& chart, const Plane& plane) {
  std::string svg;
  const AxisTicks horizontal = x_ticks(chart, plane), vertical = y_ticks(chart, plane);
  for (const Tick& tick : horizontal.ticks) {
    const double x = plane.to_x(tick.at);
    svg += svg_line(x, plane.top(), x, plane.bottom(), "grid");
    svg += svg_text(x, plane.bottom() + 15, "middle", "tick", tick.text);
  }
  for (const Tick& tick : vertical.ticks) {
    const double y = plane.to_y(tick.at);
    svg += svg_line(plane.left(), y, plane.right(), y, "grid");
    svg += svg_text(plane.left() - 6, y + 4, "end", "tick", tick.text);
  }
  svg += svg_rect(plane.left(), plane.top(), plane.right() - plane.left(),
                  plane.bottom() - plane.top(), "frame");
  svg += svg_text(0.5 * (plane.left() + plane.right()), chart.height - 8.0, "middle", "label",
                  notation::label_with_offset(chart.x_label, horizontal.offset));
  svg += fmt::format(
      "<text transform=\"translate(14,{:.1f}) rotate(-90)\" text-anchor=\"middle\" "
      "class=\"label\">{}</text>\n",
      0.5 * (plane.top() + plane.bottom()),
      escape_html(notation::label_with_offset(chart.y_label, vertical.offset)));
  svg += svg_text(plane.left(), 18, "start", "title", chart.title);
  return svg;
}

/// Draws the visible part of the highlighted intervals, each at least kWidthMin wide.
std::string marks(const Chart& chart, const Plane& plane) {
  constexpr double kWidthMin = 3.0;  // [px]
  std::string svg;
  for (const ChartHighlight& mark : chart.marks) {
    const double low = plane.to_x(plane.transform_x(mark.from));
    const double high = plane.to_x(plane.transform_x(mark.to));
    const double from = std::max(low, plane.left()), to = std::min(high, plane.right());
    if (!(from <= plane.right()) || !(to >= plane.left())) continue;
    const double width = std::max(to - from, kWidthMin);
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\">"
        "<title>{}</title></rect>\n",
        std::min(from, plane.right() - width), plane.top(), width, plane.bottom() - plane.top(),
        mark.is_note ? "mark note" : "mark", escape_html(mark.text));
  }
  return svg;
}

/// Draws a marker of a series with its centre at pixel (x, y).
std::string mark(const ChartSeries& series, double x, double y) {
  const std::string css = "dot " + series.css_class;
  const auto polygon = [&](std::initializer_list<std::array<double, 2>> corners) {
    std::string points;
    for (const auto& [dx, dy] : corners) points += fmt::format("{:.1f},{:.1f} ", x + dx, y + dy);
    return "<polygon points=\"" + points + "\" class=\"" + css + "\"/>\n";
  };
  switch (series.shape) {
    case MarkerShape::kCircle:
      break;
    case MarkerShape::kSquare:
      return polygon({{-3, -3}, {3, -3}, {3, 3}, {-3, 3}});
    case MarkerShape::kTriangle:
      return polygon({{0, -4}, {3.6, 2.6}, {-3.6, 2.6}});
    case MarkerShape::kDiamond:
      return polygon({{0, -4.2}, {4.2, 0}, {0, 4.2}, {-4.2, 0}});
  }
  return svg_circle(x, y, 3.0, css);
}

/// Returns a series in the coordinates of the axes, with logarithms on logarithmic axes. Points
/// that cannot be drawn have y = NaN.
ChartSeries transformed(const Plane& plane, const ChartSeries& series) {
  ChartSeries points = series;
  for (std::size_t k = 0; k < points.x.size(); ++k) {
    points.x[k] = plane.transform_x(series.x[k]);
    points.y[k] = plane.transform(series.y[k]);
    if (!std::isfinite(points.x[k])) points.x[k] = plane.x_range().low;
    const bool drawn = std::isfinite(plane.transform_x(series.x[k])) && std::isfinite(points.y[k]);
    if (!drawn) points.y[k] = std::numeric_limits<double>::quiet_NaN();
  }
  return points;
}

std::string bars(const Plane& plane, const ChartSeries& series, const ChartSeries& points) {
  std::string svg;
  for (std::size_t k = 0; k < series.y_error.size(); ++k) {
    if (std::isnan(points.y[k]) || !(series.y_error[k] > 0.0)) continue;
    const auto end = [&](double y) {
      const double at = plane.transform(y);
      return std::clamp(plane.to_y(std::isnan(at) ? plane.y_range().low : at), plane.top(),
                        plane.bottom());
    };
    const double x = plane.to_x(points.x[k]);
    svg += svg_line(x, end(series.y[k] - series.y_error[k]), x,
                    end(series.y[k] + series.y_error[k]), "line " + series.css_class + " bar");
  }
  return svg;
}

std::string path(const Plane& plane, const ChartSeries& series) {
  const ChartSeries points = transformed(plane, series);
  std::string d;
  bool pen_down = false;
  const int columns = static_cast<int>(plane.right() - plane.left());
  for (const std::size_t k : select_points_to_draw(points.x, points.y, columns)) {
    if (std::isnan(points.y[k])) {
      pen_down = false;
      continue;
    }
    d += fmt::format("{}{:.1f} {:.1f}", pen_down ? 'L' : 'M', plane.to_x(points.x[k]),
                     plane.to_y(points.y[k]));
    pen_down = true;
  }
  return "<path d=\"" + d + "\" class=\"line " + series.css_class + "\"/>\n";
}

/// Draws the markers of a series, unless there are more markers than pixels.
std::string point_marks(const Chart& chart, const Plane& plane, const ChartSeries& series) {
  if (!series.markers) return "";
  const ChartSeries points = transformed(plane, series);
  const auto count = std::ranges::count_if(points.y, [](double y) { return !std::isnan(y); });
  if (count > chart.width) return "";
  std::string svg;
  for (std::size_t k = 0; k < points.x.size(); ++k) {
    if (std::isnan(points.y[k])) continue;
    const double y = std::clamp(plane.to_y(points.y[k]), plane.top(), plane.bottom());
    svg += mark(series, plane.to_x(points.x[k]), y);
  }
  return svg;
}

std::string drawing_of(const Chart& chart, const Plane& plane, const ChartSeries& series) {
  std::string svg = series.excluded_from_range ? "" : path(plane, series);
  svg += bars(plane, series, transformed(plane, series));
  return svg += point_marks(chart, plane, series);
}

}  // namespace

ChartSeries make_line_series(const std::string& label, const std::string& css_class,
                             const std::vector<double>& x, std::vector<double> y,
                             const std::string& column) {
  return {.label = label, .css_class = css_class, .x = x, .y = std::move(y), .column = column};
}

Chart make_time_chart(const std::string& title, const std::string& y_label,
                      std::vector<ChartSeries> series, int height) {
  return {.title = title,
          .x_label = "time [s]",
          .y_label = y_label,
          .height = height,
          .series = std::move(series)};
}

std::vector<std::size_t> select_points_to_draw(const std::vector<double>& x,
                                               const std::vector<double>& y, int columns) {
  std::vector<std::size_t> kept;
  if (x.empty()) return kept;
  const double width = (x.back() - x.front()) / std::max(columns, 1);
  const auto column_of = [&](std::size_t k) {
    return width > 0.0 ? std::floor((x[k] - x.front()) / width) : 0.0;
  };
  for (std::size_t begin = 0; begin < x.size();) {
    std::size_t end = begin + 1;
    while (end < x.size() && column_of(end) == column_of(begin) &&
           std::isnan(y[end]) == std::isnan(y[begin])) {
      ++end;
    }
    std::size_t lowest = begin;
    std::size_t highest = begin;
    for (std::size_t k = begin; k < end; ++k) {
      if (y[k] < y[lowest]) lowest = k;
      if (y[k] > y[highest]) highest = k;
    }
    std::vector<std::size_t> points = {begin, lowest, highest, end - 1};
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    kept.insert(kept.end(), points.begin(), points.end());
    begin = end;
  }
  return kept;
}

std::string render_legend_entry(const ChartSeries& series, double x, double y) {
  return svg_line(x, y, x + 20, y, "line " + series.css_class) +
         (series.markers ? mark(series, x + 10, y) : "");
}

std::string render_chart_elements(const Chart& chart) {
  Plane plane(chart);
  const ChartLegend legend = chart_legend(chart, plane.left(), plane.right());
  plane.move_top(kMarginTop + legend.height);
  std::string svg = marks(chart, plane) + axes(chart, plane);
  for (const ChartSeries& series : chart.series) svg += drawing_of(chart, plane, series);
  return svg + legend.svg;
}

std::string render_chart(const Chart& chart) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
                     chart.width, chart.height, escape_html(chart.title),
                     render_chart_elements(chart));
}

}  // namespace service
