#include "service/report/charts/svg_chart.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

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

}  // namespace

std::vector<std::size_t> decimate(const std::vector<double>& x, const std::vector<double>& y,
                                  int columns) {
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

std::string legend_key(const ChartSeries& series, double x, double y) {
  return svg_line(x, y, x + 20, y, "line " + series.css_class) +
         (series.markers ? mark(series, x + 10, y) : "");
}

std::string chart_content(const Chart& chart) {
  Plane plane(chart);
  const ChartLegend legend = chart_legend(chart, plane.left(), plane.right());
  plane.move_top(kMarginTop + legend.height);
  std::string svg = marks(chart, plane) + axes(chart, plane);
  for (const ChartSeries& series : chart.series) svg += drawing_of(chart, plane, series);
  return svg + legend.svg;
}

std::string svg_chart(const Chart& chart) {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
                     chart.width, chart.height, escape_html(chart.title), chart_content(chart));
}

}  // namespace service
