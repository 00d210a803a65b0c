#include "service/report/charts/svg_matrix.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "service/text/number_format.hpp"
#include "service/text/svg_elements.hpp"

namespace service {
namespace {

constexpr int kCell = 44;           // [px]
constexpr double kNameWidth = 7.2;  // [px] per character of a name
constexpr int kWholeRows = 5;       // a matrix of at most so many rows is not split on paper
constexpr int kBandRows = 4;        // most rows kept together on paper for a larger one

/// Formats a number with two decimals. Zero has no sign.
std::string correlation_text(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.2f}", std::abs(value) < 0.005 ? 0.0 : value);
}

std::string cell(double value, int x, int y) {
  const double magnitude = std::min(std::abs(value), 1.0);
  return fmt::format(
             "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\" "
             "fill-opacity=\"{:.2f}\"/>",
             x, y, kCell - 1, kCell - 1, value < 0.0 ? "negative" : "positive", magnitude) +
         svg_text(x + kCell / 2, y + kCell / 2 + 4, "middle",
                  magnitude > 0.6 ? "cell strong" : "cell", correlation_text(value));
}

std::string strip(int width, int height, const std::string& content,
                  const std::string& attributes = "") {
  return fmt::format("<svg viewBox=\"0 0 {} {}\" aria-hidden=\"true\"{}>\n{}</svg>\n", width,
                     height, attributes, content);
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
    head +=
        fmt::format("<text transform=\"translate({},{}) rotate(-90)\" class=\"tick\">{}</text>\n",
                    margin + j * kCell + kCell / 2 + 4, margin - 6,
                    escape_html(names[static_cast<std::size_t>(j)]));
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
      content += svg_text(margin - 6, i * kCell + kCell / 2 + 4, "end", "tick",
                          names[static_cast<std::size_t>(begin + i)]);
      for (int j = 0; j < n; ++j) {
        content += cell(correlation(begin + i, j), margin + j * kCell, i * kCell);
      }
    }
    html += strip(width, rows * kCell, content) + "</div>\n";
  }
  return html + "</div></div>\n";
}

}  // namespace service
