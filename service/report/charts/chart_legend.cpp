#include "service/report/charts/chart_legend.hpp"

#include <cstdio>
#include <vector>

#include "service/text/number_format.hpp"

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

std::string entry_name(const ChartSeries& series, double x, double y) {
  char place[64];
  std::snprintf(place, sizeof place, "<text x=\"%.1f\" y=\"%.1f\"", x, y);
  return place + std::string(" text-anchor=\"start\" class=\"tick\">") + escape_html(series.label) +
         "</text>\n";
}

}  // namespace

ChartLegend chart_legend(const Chart& chart, double left, double right) {
  const std::vector<LegendRow> rows = legend_rows(chart, right - left);
  ChartLegend legend;
  double y = kLegendFirst;
  for (const LegendRow& row : rows) {
    double x = right;
    for (auto entry = row.rbegin(); entry != row.rend(); ++entry) {
      x -= entry_width(**entry);
      legend.svg += entry_name(**entry, x + kLegendKey, y);
      legend.svg += legend_key(**entry, x, y - 4.0);
      x -= kLegendGap;
    }
    y += kLegendRow;
  }
  legend.height = kLegendRow * static_cast<double>(rows.size() - 1);
  return legend;
}

}  // namespace service
