#include "service/report/svg_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "service/report/svg_chart.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr int kCell = 44;           // [px]
constexpr double kNameWidth = 7.2;  // [px] a character of a name

std::string fixed(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string cell(double value, int x, int y) {
  const double magnitude = std::min(std::abs(value), 1.0);
  const std::string corner = std::to_string(x) + "\" y=\"" + std::to_string(y);
  const std::string size = std::to_string(kCell - 1);
  std::string svg = "<rect x=\"" + corner + "\" width=\"" + size + "\" height=\"" + size +
                    "\" class=\"" + (value < 0.0 ? "negative" : "positive") + "\" fill-opacity=\"" +
                    fixed("%.2f", magnitude) + "\"/>";
  svg += "<text x=\"" + std::to_string(x + kCell / 2) + "\" y=\"" +
         std::to_string(y + kCell / 2 + 4) + "\" text-anchor=\"middle\" class=\"cell" +
         (magnitude > 0.6 ? " strong" : "") + "\">" +
         (std::isnan(value) ? "-" : fixed("%.2f", value)) + "</text>\n";
  return svg;
}

}  // namespace

std::string svg_correlation(const Eigen::MatrixXd& correlation,
                            const std::vector<std::string>& names) {
  const int n = static_cast<int>(names.size());
  int longest = 0;
  for (const std::string& name : names) longest = std::max(longest, display_width(name));
  const int margin = static_cast<int>(kNameWidth * longest) + 12;
  const int size = margin + n * kCell + 2;
  std::string svg = "<svg viewBox=\"0 0 " + std::to_string(size) + " " + std::to_string(size) +
                    "\" style=\"max-width:" + std::to_string(size) +
                    "px\" role=\"img\" aria-label=\"Correlation of the parameters\">\n";
  for (int i = 0; i < n; ++i) {
    const int middle = margin + i * kCell + kCell / 2;
    const std::string name = escape_html(names[static_cast<std::size_t>(i)]);
    svg += "<text x=\"" + std::to_string(margin - 6) + "\" y=\"" + std::to_string(middle + 4) +
           "\" text-anchor=\"end\" class=\"tick\">" + name + "</text>";
    svg += "<text transform=\"translate(" + std::to_string(middle + 4) + "," +
           std::to_string(margin - 6) + ") rotate(-90)\" class=\"tick\">" + name + "</text>\n";
    for (int j = 0; j < n; ++j) {
      svg += cell(correlation(i, j), margin + j * kCell, margin + i * kCell);
    }
  }
  return svg + "</svg>\n";
}

}  // namespace service
