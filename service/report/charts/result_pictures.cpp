#include "service/report/charts/result_pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "proto/notation/axis_ticks.hpp"
#include "service/text/number_format.hpp"
#include "service/text/svg_elements.hpp"

namespace service {
namespace {

using estimator::ParameterEstimate;
using estimator::RecordingPartEstimate;

constexpr double kRow = 20.0;     // [px]
constexpr double kTop = 26.0;     // [px], for the parameter's name
constexpr double kBottom = 40.0;  // [px], for ticks and the axis label
// Widths of the labels and of one parameter's picture, with room for ticks beside its axis [px].
// page_style_sheet uses their ratio.
constexpr double kLabels = 190.0;
constexpr double kPicture = 192.0;
constexpr double kLeft = 11.0;
constexpr double kColumn = kPicture - 2.0 * kLeft;
constexpr double kCharacter = 7.2;   // [px] of a tick's text
constexpr std::size_t kAbreast = 4;  // pictures per line
constexpr double kSlack = 0.08;      // share of the axis beyond its contents
constexpr double kLongest = 4.0;  // times the typical bar; the axis shows shorter bars completely
constexpr double kMostPercent = 2.0;  // of the value; a larger range uses the parameter's unit

double half_width(const RecordingPartEstimate& part, Eigen::Index at) {
  return estimator::kNormalHalfWidth95 * part.standard_deviations[at];
}

/// Axis of one parameter in a forest plot, which maps parameter values to pixels.
class ForestAxis {
 public:
  ForestAxis(const std::vector<RecordingPartEstimate>& parts, const ParameterEstimate& estimate,
             Eigen::Index at, double left)
      : left_(left), low_(estimate.value), high_(estimate.value) {
    std::vector<double> halves;
    for (const RecordingPartEstimate& part : parts) {
      if (std::isfinite(half_width(part, at))) halves.push_back(half_width(part, at));
    }
    double typical = 0.0;
    if (!halves.empty()) {
      std::ranges::nth_element(halves, halves.begin() + std::ssize(halves) / 2);
      typical = halves[halves.size() / 2];
    }
    const auto include = [&](double center, double half) {
      low_ = std::min(low_, center - half);
      high_ = std::max(high_, center + half);
    };
    for (const RecordingPartEstimate& part : parts) {
      const double half = half_width(part, at);
      if (half <= kLongest * typical) include(part.values[at], half);
    }
    if (std::isfinite(estimate.half_interval)) include(estimate.value, estimate.half_interval);
    if (!(high_ > low_)) include(estimate.value, std::max(std::abs(estimate.value), 1e-12));
    const double slack = kSlack * (high_ - low_);
    low_ -= slack;
    high_ += slack;
  }

  bool holds(double value) const { return value >= low_ && value <= high_; }
  double to_x(double value) const {
    return left_ + kColumn * (std::clamp(value, low_, high_) - low_) / (high_ - low_);
  }

  /// Draws the ticks of the axis. They show the deviation from the estimate in percent, or for a
  /// wide range the value in the parameter's unit.
  std::string ticks(const ParameterEstimate& estimate, double y) const {
    const double far = std::max(high_ - estimate.value, estimate.value - low_);
    const bool relative = far < kMostPercent * std::abs(estimate.value);
    const double unit = relative ? 0.01 * std::abs(estimate.value) : 1.0;
    const double zero = relative ? estimate.value : 0.0;
    std::string svg;
    const double low = (low_ - zero) / unit, high = (high_ - zero) / unit;
    std::vector<double> ticks = notation::choose_axis_ticks(low, high, 3);
    if (ticks.size() < 2) ticks = notation::choose_axis_ticks(low, high, 5);  // one shows no scale
    const std::vector<std::string> texts = notation::format_tick_labels(ticks).texts;
    double taken = 0.0;  // right end of the last tick text [px]
    for (std::size_t k = 0; k < ticks.size(); ++k) {
      const double x = to_x(zero + unit * ticks[k]);
      svg += svg_line(x, kTop, x, y, "grid");
      // Below its line, inside the picture, and not overlapping the previous text.
      const double half = 0.5 * kCharacter * static_cast<double>(texts[k].size());
      const double middle = std::clamp(x, half, kPicture - half);
      if (middle - half < taken) continue;
      svg += svg_text(middle, y + 14.0, "middle", "tick", texts[k]);
      taken = middle + half;
    }
    return svg + svg_text(left_ + 0.5 * kColumn, y + 30.0, "middle", "label",
                          relative ? "deviation from the estimate [%]" : estimate.unit);
  }

 private:
  double left_, low_, high_;
};

std::string bar(const ForestAxis& axis, double value, double half, double y, const char* style) {
  return svg_line(axis.to_x(value - half), y, axis.to_x(value + half), y, style);
}

std::string dot(const ForestAxis& axis, double value, double y, const char* style) {
  return axis.holds(value) ? svg_circle(axis.to_x(value), y, 3.5, style) : "";
}

std::string column(const std::vector<RecordingPartEstimate>& parts,
                   const ParameterEstimate& estimate, Eigen::Index at) {
  const ForestAxis axis(parts, estimate, at, kLeft);
  const double bottom = kTop + kRow * static_cast<double>(parts.size() + 1);
  std::string svg = svg_text(kLeft + 0.5 * kColumn, kTop - 10.0, "middle", "title", estimate.name);
  svg += axis.ticks(estimate, bottom);
  const double half = estimate.half_interval;
  const bool seen = std::isfinite(half) && half > 0.0;
  if (seen) {
    const double x = axis.to_x(estimate.value - half);
    svg += svg_rect(x, kTop, axis.to_x(estimate.value + half) - x, bottom - kTop, "prior");
  }
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const double y = kTop + kRow * (static_cast<double>(p) + 0.5);
    if (!std::isfinite(half_width(parts[p], at))) continue;
    svg += bar(axis, parts[p].values[at], half_width(parts[p], at), y, "line measured");
    svg += dot(axis, parts[p].values[at], y, "dot residual");
  }
  if (seen) svg += bar(axis, estimate.value, half, bottom - 0.5 * kRow, "line simulated thick");
  return svg + dot(axis, estimate.value, bottom - 0.5 * kRow, "dot simulated");
}

std::string label_column(const std::vector<std::string>& labels) {
  std::string svg;
  for (std::size_t p = 0; p <= labels.size(); ++p) {
    svg += svg_text(kLabels - kLeft, kTop + kRow * (static_cast<double>(p) + 0.5) + 4.0, "end",
                    "tick", p < labels.size() ? labels[p] : "all together");
  }
  return svg;
}

/// Returns an svg element. @param attributes  attributes of the element in addition to its size
std::string picture(double width, std::size_t parts, const std::string& attributes,
                    const std::string& content) {
  const double height = kTop + kRow * static_cast<double>(parts + 1) + kBottom;
  return fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" {}>\n{}</svg>\n", width, height,
                     attributes, content);
}

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

std::string render_forest_plot(const std::vector<RecordingPartEstimate>& parts,
                               const std::vector<std::string>& labels,
                               const std::vector<ParameterEstimate>& parameters,
                               const std::vector<std::size_t>& columns) {
  const std::string left =
      picture(kLabels, parts.size(), "class=\"labels\" aria-hidden=\"true\"", label_column(labels));
  std::string html;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (c % kAbreast == 0)
      html += html.empty() ? "<div class=\"forest\">\n" : "</div>\n<div class=\"forest\">\n";
    const ParameterEstimate& estimate = parameters[columns[c]];
    html += "<div>" + left +
            picture(kPicture, parts.size(),
                    "role=\"img\" aria-label=\"" + escape_html(estimate.name) + " by part\"",
                    column(parts, estimate, static_cast<Eigen::Index>(columns[c]))) +
            "</div>\n";
  }
  return html.empty() ? "" : html + "</div>\n";
}

std::string render_correlation_heat_map(const Eigen::MatrixXd& correlation,
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
