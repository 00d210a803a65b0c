#include "tests/studies/runs/study_figures.hpp"

#include <algorithm>
#include <cmath>

#include "service/text/csv_row.hpp"
#include "service/text/number_format.hpp"
#include "service/text/table_notation.hpp"

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
    legend.svg += render_legend_entry(entry, x, y);
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
    drawing.content += "<g transform=\"translate(" + std::to_string(i % columns * width) + "," +
                       std::to_string(i / columns * kPanelHeight) + ")\">\n" +
                       render_chart_elements(panel) + "</g>\n";
  }
  drawing.height = (count + columns - 1) / columns * kPanelHeight;
  const Legend legend = draw_legend(legend_entries(figure), drawing.height);
  drawing.content += legend.svg;
  drawing.height += legend.height;
  return drawing;
}

/// Formats the data of a figure as CSV with one row per point.
std::string figure_csv(const Figure& figure) {
  std::string csv = format_csv_row({"panel", "series", "x axis", "x", "y axis", "y", "y error"});
  for (const Chart& panel : figure.panels) {
    for (const ChartSeries& series : panel.series) {
      for (std::size_t k = 0; k < series.x.size(); ++k) {
        const bool has_error = k < series.y_error.size() && std::isfinite(series.y_error[k]);
        csv += format_csv_row({panel.title, series.label, panel.x_label,
                               format_json_number(series.x[k]), panel.y_label,
                               std::isfinite(series.y[k]) ? format_json_number(series.y[k]) : "",
                               has_error ? format_json_number(series.y_error[k]) : ""});
      }
    }
  }
  return csv;
}

}  // namespace

std::string figure_file(const Figure& figure) {
  const Drawing drawing = draw(figure);
  return render_svg_file(figure.title, kWidth, drawing.height, drawing.content);
}

std::string figure_html(const Figure& figure) {
  const Drawing drawing = draw(figure);
  const std::string svg = "<svg viewBox=\"0 0 " + std::to_string(kWidth) + " " +
                          std::to_string(drawing.height) + "\" role=\"img\" aria-label=\"" +
                          escape_html(figure.title) + "\">\n" + drawing.content + "</svg>\n";
  return "<section><h2>" + escape_html(figure.title) + "</h2>\n" +
         render_data_figure(svg, figure.name, figure_csv(figure), escape_html(figure.caption)) +
         "</section>\n";
}

void scale_axis(Chart& chart, const std::string& quantity, const std::string& unit) {
  double largest = 0.0;
  for (const ChartSeries& series : chart.series) {
    for (const double y : series.y) {
      if (std::isfinite(y)) largest = std::max(largest, std::abs(y));
    }
  }
  const bool plain = largest == 0.0 || (largest >= 0.05 && largest < 1e4);
  const int exponent = plain ? 0 : 3 * static_cast<int>(std::floor(std::log10(largest) / 3.0));
  const double scale = std::pow(10.0, -exponent);
  for (ChartSeries& series : chart.series) {
    for (double& y : series.y) y *= scale;
    for (double& error : series.y_error) error *= scale;
  }
  chart.y_label =
      quantity + " [" + (exponent == 0 ? "" : format_power_of_ten(exponent) + " ") + unit + "]";
}

}  // namespace service
