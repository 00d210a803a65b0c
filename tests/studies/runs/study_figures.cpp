#include "tests/studies/runs/study_figures.hpp"

#include <algorithm>
#include <cmath>

#include "service/report/charts/chart_figure.hpp"
#include "service/text/csv_row.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

/// Formats the data of a figure as CSV with one row per point.
std::string figure_csv(const Figure& figure) {
  std::string csv = csv_row({"panel", "series", "x axis", "x", "y axis", "y", "y error"});
  for (const Chart& panel : figure.panels) {
    for (const ChartSeries& series : panel.series) {
      for (std::size_t k = 0; k < series.x.size(); ++k) {
        const bool has_error = k < series.y_error.size() && std::isfinite(series.y_error[k]);
        csv += csv_row({panel.title, series.label, panel.x_label, json_number(series.x[k]),
                        panel.y_label, std::isfinite(series.y[k]) ? json_number(series.y[k]) : "",
                        has_error ? json_number(series.y_error[k]) : ""});
      }
    }
  }
  return csv;
}

}  // namespace

std::string figure_html(const Figure& figure) {
  return "<section><h2>" + escape_html(figure.title) + "</h2>\n" +
         data_figure(figure_svg(figure), figure.name, figure_csv(figure),
                     escape_html(figure.caption)) +
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
  chart.y_label = quantity + " [" + (exponent == 0 ? "" : decade_text(exponent) + " ") + unit + "]";
}

}  // namespace service
