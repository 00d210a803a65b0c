#include "service/report/charts/figure.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "service/report/charts/page_parts.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr int kWidth = 960;        // [px]
constexpr int kPanelHeight = 250;  // [px]
constexpr int kLegendHeight = 26;  // [px] per row of the legend
constexpr double kCharacterWidth = 7.4;
constexpr double kEntryGap = 50.0;  // [px] for the key and spaces of a legend entry

/// Returns one series for each label in a figure, in order of appearance.
std::vector<ChartSeries> legend_entries(const Figure& figure) {
  std::vector<ChartSeries> entries;
  for (const Chart& panel : figure.panels) {
    for (const ChartSeries& series : panel.series) {
      const bool known = series.label.empty() ||
                         std::any_of(entries.begin(), entries.end(), [&](const ChartSeries& entry) {
                           return entry.label == series.label;
                         });
      if (!known) {
        entries.push_back(
            {series.label, series.css_class, {}, {}, series.markers, series.shape, {}});
      }
    }
  }
  return entries;
}

struct Legend {
  std::string svg;
  int height = 0;
};

Legend draw_legend(const std::vector<ChartSeries>& entries, int top) {
  Legend legend;
  double x = 20.0;
  int row = 0;
  for (const ChartSeries& entry : entries) {
    const double width = kEntryGap + kCharacterWidth * display_width(entry.label);
    if (x + width > kWidth && x > 20.0) {
      x = 20.0;
      ++row;
    }
    const double y = top + row * kLegendHeight + 0.5 * kLegendHeight;
    legend.svg += legend_key(entry, x, y);
    legend.svg += svg_text(x + 27.0, y + 4.0, "start", "label", entry.label);
    x += width;
  }
  legend.height = entries.empty() ? 0 : (row + 1) * kLegendHeight;
  return legend;
}

struct Drawing {
  std::string content;
  int height = 0;
};

Drawing draw(const Figure& figure) {
  Drawing drawing;
  const int columns = std::max(1, figure.columns);
  const int width = kWidth / columns;
  const auto count = static_cast<int>(figure.panels.size());
  for (int i = 0; i < count; ++i) {
    Chart panel = figure.panels[static_cast<std::size_t>(i)];
    panel.width = width;
    panel.height = kPanelHeight;
    panel.title.clear();
    if (count > 1) panel.title = {'(', static_cast<char>('a' + i), ')', ' '};
    panel.title += figure.panels[static_cast<std::size_t>(i)].title;
    for (ChartSeries& series : panel.series) series.label.clear();
    drawing.content +=
        fmt::format("<g transform=\"translate({},{})\">\n{}</g>\n", i % columns * width,
                    i / columns * kPanelHeight, chart_content(panel));
  }
  drawing.height = (count + columns - 1) / columns * kPanelHeight;
  const Legend legend = draw_legend(legend_entries(figure), drawing.height);
  drawing.content += legend.svg;
  drawing.height += legend.height;
  return drawing;
}

}  // namespace

std::string figure_file(const Figure& figure) {
  const Drawing drawing = draw(figure);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"system-ui, 'DejaVu Sans', sans-serif\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "aria-label=\"{2}\">\n<title>{2}</title>\n<style>{3}</style>\n"
      "<rect width=\"100%\" height=\"100%\" style=\"fill: var(--paper)\"/>\n{4}</svg>\n",
      kWidth, drawing.height, escape_html(figure.title), page_style(), drawing.content);
}

std::string figure_svg(const Figure& figure) {
  const Drawing drawing = draw(figure);
  return fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
                     kWidth, drawing.height, escape_html(figure.title), drawing.content);
}

std::string series_class(std::size_t index) { return "series-" + std::to_string(index % 6 + 1); }

MarkerShape series_shape(std::size_t index) {
  constexpr MarkerShape kShapes[] = {MarkerShape::kCircle, MarkerShape::kSquare,
                                     MarkerShape::kTriangle, MarkerShape::kDiamond};
  return kShapes[index % 4];
}

}  // namespace service
