#include "service/report/charts/svg_interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::ParameterEstimate;

constexpr double kDrawingWidth = 200.0;  // [px]
constexpr double kMiddle = 10.0;         // [px], of a height of 20
constexpr double kArrowMargin = 10.0;    // [px], for an arrow at either end
constexpr int kDecadesMin = 3;           // on each side
constexpr int kDecadesMax = 7;

std::string format(const char* pattern, double a, double b = 0.0, double c = 0.0, double d = 0.0) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, a, b, c, d);
  return text;
}

double to_x(double axis_position) {
  return 0.5 * kDrawingWidth + axis_position * (0.5 * kDrawingWidth - kArrowMargin);
}

bool has_interval(const ParameterEstimate& estimate) {
  return !estimate.at_bound && std::isfinite(estimate.standard_deviation) &&
         estimate.standard_deviation > 0.0;
}

/// Map from values of a parameter to pixels on the common axis of the intervals.
class IntervalAxis {
 public:
  IntervalAxis(const ParameterEstimate& estimate, const RelativeScale& scale)
      : value_(estimate.value), scale_(scale) {}

  double share(double value) const { return (value - value_) / std::abs(value_); }
  bool holds(double value) const { return std::abs(share(value)) <= 1.0; }
  double at(double value) const { return to_x(scale_.axis_position(share(value))); }

 private:
  double value_;
  const RelativeScale& scale_;
};

std::string start_mark(const IntervalAxis& axis, double start) {
  if (!std::isfinite(start) || std::isnan(axis.share(start))) return "";
  if (axis.holds(start)) {
    return format("<circle cx=\"%.1f\" cy=\"%.0f\" r=\"4\" class=\"ring\"/>", axis.at(start),
                  kMiddle);
  }
  const bool left = axis.share(start) < 0.0;
  const double tip = left ? 1.0 : kDrawingWidth - 1.0;
  const double base = left ? 8.0 : kDrawingWidth - 8.0;
  return format("<path d=\"M%.1f 10L%.1f 6", tip, base) +
         format("L%.1f 14Z\" class=\"ring\"/>", base);
}

std::string bound_mark(const IntervalAxis& axis, double bound) {
  if (!std::isfinite(bound) || !axis.holds(bound)) return "";
  return format("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"2\" y2=\"18\" class=\"bound\"/>",
                axis.at(bound), axis.at(bound));
}

std::string prior_band(const IntervalAxis& axis, const ParameterPrior& prior) {
  const double half = estimator::kNormalHalfWidth95 * prior.standard_deviation;
  const double left = axis.at(prior.mean - half), right = axis.at(prior.mean + half);
  if (!prior.exists() || !(right >= left)) return "";
  return format("<rect x=\"%.1f\" width=\"%.1f\" y=\"3\" height=\"14\" class=\"prior\"/>", left,
                right - left);
}

/// Returns the axis positions of the estimate and of deviations of 1 %, 10 % and so on.
std::vector<double> decade_places(const RelativeScale& scale) {
  std::vector<double> places = {0.0};
  for (int k = 1; k <= scale.decades(); ++k)
    places.push_back(static_cast<double>(k) / scale.decades());
  return places;
}

std::string grid(const RelativeScale& scale) {
  std::string svg;
  for (const double axis_position : decade_places(scale)) {
    for (const double side : {-1.0, 1.0}) {
      const double x = to_x(side * axis_position);
      svg += format("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"20\" class=\"axis\"/>", x, x);
      if (axis_position == 0.0) break;
    }
  }
  return svg;
}

const char* kOpen = "<svg viewBox=\"0 0 200 20\" class=\"interval\" aria-hidden=\"true\">";

}  // namespace

RelativeScale::RelativeScale(const std::vector<ParameterEstimate>& estimates) {
  double sharpest = 1.0;
  for (const ParameterEstimate& estimate : estimates) {
    if (!interval_excludes_zero(estimate)) continue;
    sharpest = std::min(sharpest, estimate.half_interval / std::abs(estimate.value));
  }
  const int decades = 1 + static_cast<int>(std::ceil(-std::log10(std::max(sharpest, 1e-12))));
  decades_ = std::clamp(decades, kDecadesMin, kDecadesMax);
}

double RelativeScale::axis_position(double share) const {
  const double decades = static_cast<double>(decades_) + std::log10(std::abs(share));
  const double axis_position = std::clamp(decades / decades_, 0.0, 1.0);
  return share < 0.0 ? -axis_position : axis_position;
}

bool interval_excludes_zero(const ParameterEstimate& estimate) {
  return has_interval(estimate) && estimate.half_interval < std::abs(estimate.value);
}

std::string svg_interval(const ParameterEstimate& estimate, const ParameterPrior& prior,
                         const RelativeScale& scale) {
  if (!std::isfinite(estimate.value)) return "";
  const IntervalAxis axis(estimate, scale);
  std::string svg = kOpen + grid(scale);
  const bool relative = interval_excludes_zero(estimate);
  if (relative) svg += prior_band(axis, prior);
  const bool unseen = !relative && !estimate.at_bound && estimate.standard_deviation > 0.0;
  svg += format("<line x1=\"%.0f\" x2=\"%.0f\" y1=\"10\" y2=\"10\" class=\"", kArrowMargin,
                kDrawingWidth - kArrowMargin) +
         (unseen ? "line simulated dashed\"/>" : "axis\"/>");
  if (estimate.value != 0.0)
    svg += bound_mark(axis, estimate.lower) + bound_mark(axis, estimate.upper);
  if (relative) {
    const double half = estimate.half_interval;
    svg +=
        format("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"10\" y2=\"10\" class=\"line simulated thick\"/>",
               axis.at(estimate.value - half), axis.at(estimate.value + half));
  }
  if (estimate.value != 0.0) svg += start_mark(axis, estimate.initial);
  svg += format("<circle cx=\"%.1f\" cy=\"%.0f\" r=\"4\" class=\"dot simulated\"/>", to_x(0.0),
                kMiddle);
  return svg + "</svg>";
}

std::string svg_interval_axis(const RelativeScale& scale) {
  std::string svg = kOpen;
  const int stride = scale.decades() > 4 ? 2 : 1;  // as many as fit
  for (int k = scale.decades(); k > 0; k -= stride) {
    const std::string text = format_number(100.0 * std::pow(10.0, k - scale.decades()), 1);
    for (const double side : {-1.0, 1.0}) {
      svg += format("<text x=\"%.1f\" y=\"14\" text-anchor=\"middle\" class=\"cell\">",
                    to_x(side * k / scale.decades())) +
             text + "</text>";
    }
  }
  return svg + "</svg>";
}

}  // namespace service
