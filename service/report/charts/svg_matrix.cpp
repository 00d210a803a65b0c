#include "service/report/charts/svg_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "service/report/charts/svg_chart.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr int kCell = 44;           // [px]
constexpr double kNameWidth = 7.2;  // [px] per character of a name
constexpr int kWholeRows = 5;       // a matrix of at most so many rows is not split on paper
constexpr int kBandRows = 4;        // most rows kept together on paper for a larger one

std::string fixed(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// Formats a number with two decimals. Zero has no sign.
std::string correlation_text(double value) {
  if (std::isnan(value)) return "-";
  return fixed("%.2f", std::abs(value) < 0.005 ? 0.0 : value);
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
         (magnitude > 0.6 ? " strong" : "") + "\">" + correlation_text(value) + "</text>\n";
  return svg;
}

std::string strip(int width, int height, const std::string& content,
                  const std::string& attributes = "") {
  return "<svg viewBox=\"0 0 " + std::to_string(width) + " " + std::to_string(height) +
         "\" aria-hidden=\"true\"" + attributes + ">\n" + content + "</svg>\n";
}

}  // namespace

std::string svg_correlation(const Eigen::MatrixXd& correlation,
                            const std::vector<std::string>& names) {
  const int n = static_cast<int>(names.size());
  int longest = 0;
  for (const std::string& name : names) longest = std::max(longest, display_width(name));
  const int margin = static_cast<int>(kNameWidth * longest) + 12;
  const int width = margin + n * kCell + 2;
  std::string head;
  for (int j = 0; j < n; ++j) {
    head += "<text transform=\"translate(" + std::to_string(margin + j * kCell + kCell / 2 + 4) +
            "," + std::to_string(margin - 6) + ") rotate(-90)\" class=\"tick\">" +
            escape_html(names[static_cast<std::size_t>(j)]) + "</text>\n";
  }
  const int bands = n <= kWholeRows ? 1 : (n + kBandRows - 1) / kBandRows;
  std::string html = "<div class=\"wide\" tabindex=\"0\"><div class=\"bands\" style=\"width:" +
                     std::to_string(width) +
                     "px\" role=\"img\" aria-label=\"Correlation of the parameters\">\n";
  for (int band = 0; band < bands; ++band) {
    const int begin = band * n / bands, rows = (band + 1) * n / bands - begin;
    html += "<div>" + strip(width, margin, head, begin > 0 ? " class=\"again\"" : "");
    std::string content;
    for (int i = 0; i < rows; ++i) {
      content += "<text x=\"" + std::to_string(margin - 6) + "\" y=\"" +
                 std::to_string(i * kCell + kCell / 2 + 4) +
                 "\" text-anchor=\"end\" class=\"tick\">" +
                 escape_html(names[static_cast<std::size_t>(begin + i)]) + "</text>\n";
      for (int j = 0; j < n; ++j) {
        content += cell(correlation(begin + i, j), margin + j * kCell, i * kCell);
      }
    }
    html += strip(width, rows * kCell, content) + "</div>\n";
  }
  return html + "</div></div>\n";
}

}  // namespace service
