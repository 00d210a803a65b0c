#include "service/report/svg_chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "service/report/number_format.hpp"

namespace service {
namespace {

constexpr int kMarginLeft = 74;
constexpr int kMarginRight = 14;
constexpr int kMarginTop = 30;
constexpr int kMarginBottom = 42;
constexpr int kLegendKeyWidth = 26;
constexpr double kCharacterWidth = 7.4;  // of the 12 px legend, generous

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void widen(double fraction) {
    if (!(low <= high)) *this = {0.0, 1.0};
    const double size = high - low;
    const double pad = size > 0.0 ? fraction * size : std::max(1e-9, 0.1 * std::abs(high));
    low -= pad;
    high += pad;
  }
};

std::string pixel(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

/// Maps data to pixels.
class Plane {
 public:
  explicit Plane(const Chart& chart) : chart_(chart) {
    for (const ChartSeries& series : chart.series) {
      for (const double x : series.x) x_.include(x);
      for (const double y : series.y) y_.include(transform(y));
    }
    x_.widen(0.0);
    y_.widen(0.06);
  }

  double left() const { return kMarginLeft; }
  double right() const { return chart_.width - kMarginRight; }
  double top() const { return kMarginTop; }
  double bottom() const { return chart_.height - kMarginBottom; }
  double transform(double y) const { return chart_.log_y ? std::log10(y) : y; }
  double to_x(double x) const {
    return left() + (x - x_.low) / (x_.high - x_.low) * (right() - left());
  }
  /// Takes a value that `transform` returned.
  double to_y(double y) const {
    return bottom() - (y - y_.low) / (y_.high - y_.low) * (bottom() - top());
  }
  const Range& x_range() const { return x_; }
  const Range& y_range() const { return y_; }

 private:
  const Chart& chart_;
  Range x_;
  Range y_;
};

std::string text_at(double x, double y, const char* anchor, const char* css_class,
                    const std::string& text) {
  return "<text x=\"" + pixel(x) + "\" y=\"" + pixel(y) + "\" text-anchor=\"" + anchor +
         "\" class=\"" + css_class + "\">" + escape_html(text) + "</text>\n";
}

std::string line_at(double x1, double y1, double x2, double y2, const std::string& css_class) {
  return "<line x1=\"" + pixel(x1) + "\" y1=\"" + pixel(y1) + "\" x2=\"" + pixel(x2) + "\" y2=\"" +
         pixel(y2) + "\" class=\"" + css_class + "\"/>\n";
}

std::vector<double> y_ticks(const Chart& chart, const Plane& plane) {
  if (!chart.log_y) return nice_ticks(plane.y_range().low, plane.y_range().high, 6);
  // Decades, or, where there are fewer than two, ticks between them.
  std::vector<double> ticks;
  const double span = plane.y_range().high - plane.y_range().low;
  const double stride = std::max(1.0, std::ceil(span / 6.0));
  for (double decade = std::ceil(plane.y_range().low); decade <= plane.y_range().high;
       decade += stride) {
    ticks.push_back(decade);
  }
  if (ticks.size() >= 2) return ticks;
  ticks.clear();
  for (const double value :
       nice_ticks(std::pow(10.0, plane.y_range().low), std::pow(10.0, plane.y_range().high), 6)) {
    if (value > 0.0) ticks.push_back(std::log10(value));
  }
  return ticks;
}

std::string axes(const Chart& chart, const Plane& plane) {
  std::string svg;
  const double span = plane.x_range().high - plane.x_range().low;
  const int ticks_max = chart.whole_x ? static_cast<int>(std::clamp(span, 1.0, 12.0)) : 12;
  for (const double tick : nice_ticks(plane.x_range().low, plane.x_range().high, ticks_max)) {
    const double x = plane.to_x(tick);
    svg += line_at(x, plane.top(), x, plane.bottom(), "grid");
    svg += text_at(x, plane.bottom() + 15, "middle", "tick", format_number(tick, 6));
  }
  for (const double tick : y_ticks(chart, plane)) {
    const double y = plane.to_y(tick);
    svg += line_at(plane.left(), y, plane.right(), y, "grid");
    const double value = chart.log_y ? std::pow(10.0, tick) : tick;
    svg += text_at(plane.left() - 6, y + 4, "end", "tick", format_number(value, 4));
  }
  svg += "<rect x=\"" + pixel(plane.left()) + "\" y=\"" + pixel(plane.top()) + "\" width=\"" +
         pixel(plane.right() - plane.left()) + "\" height=\"" +
         pixel(plane.bottom() - plane.top()) + "\" class=\"frame\"/>\n";
  svg += text_at(0.5 * (plane.left() + plane.right()), chart.height - 8.0, "middle", "label",
                 chart.x_label);
  const double middle = 0.5 * (plane.top() + plane.bottom());
  svg += "<text transform=\"translate(14," + pixel(middle) +
         ") rotate(-90)\" text-anchor=\"middle\" class=\"label\">" + escape_html(chart.y_label) +
         "</text>\n";
  svg += text_at(plane.left(), 18, "start", "title", chart.title);
  return svg;
}

std::string legend(const Chart& chart, const Plane& plane) {
  std::string svg;
  double x = plane.right();
  for (auto series = chart.series.rbegin(); series != chart.series.rend(); ++series) {
    if (series->label.empty()) continue;
    x -= kCharacterWidth * display_width(series->label);
    svg += text_at(x, 18, "start", "tick", series->label);
    x -= kLegendKeyWidth;
    svg += line_at(x, 14, x + 20, 14, "line " + series->css_class);
    x -= 10;
  }
  return svg;
}

std::string path(const Chart& chart, const Plane& plane, const ChartSeries& series) {
  std::string d;
  bool pen_down = false;
  const int columns = static_cast<int>(plane.right() - plane.left());
  for (const std::size_t k : decimate(series.x, series.y, columns)) {
    const double y = plane.transform(series.y[k]);
    if (!std::isfinite(y)) {
      pen_down = false;
      continue;
    }
    d += pen_down ? 'L' : 'M';
    d += pixel(plane.to_x(series.x[k]));
    d += ' ';
    d += pixel(plane.to_y(y));
    pen_down = true;
  }
  std::string svg = "<path d=\"" + d + "\" class=\"line " + series.css_class + "\"/>\n";
  if (!series.markers || static_cast<int>(series.x.size()) > chart.width) return svg;
  for (std::size_t k = 0; k < series.x.size(); ++k) {
    const double y = plane.transform(series.y[k]);
    if (!std::isfinite(y)) continue;
    svg += "<circle cx=\"" + pixel(plane.to_x(series.x[k])) + "\" cy=\"" + pixel(plane.to_y(y)) +
           "\" r=\"3\" class=\"dot " + series.css_class + "\"/>\n";
  }
  return svg;
}

}  // namespace

std::vector<double> nice_ticks(double low, double high, int count_max) {
  const double raw = (high - low) / count_max;
  if (!(raw > 0.0) || !std::isfinite(raw)) return {low};
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10.0 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  // Counting in whole steps keeps zero exactly zero.
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1.0) {
    ticks.push_back(k == 0.0 ? 0.0 : k * step);
  }
  return ticks;
}

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

std::string svg_chart(const Chart& chart) {
  const Plane plane(chart);
  std::string svg = "<svg viewBox=\"0 0 " + std::to_string(chart.width) + " " +
                    std::to_string(chart.height) + "\" role=\"img\" aria-label=\"" +
                    escape_html(chart.title) + "\">\n";
  svg += axes(chart, plane);
  for (const ChartSeries& series : chart.series) svg += path(chart, plane, series);
  return svg + legend(chart, plane) + "</svg>\n";
}

std::string escape_html(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace service
