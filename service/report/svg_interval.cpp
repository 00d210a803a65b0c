#include "service/report/svg_interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace service {
namespace {

constexpr double kWidth = 200.0;  // [px]
constexpr double kMiddle = 10.0;  // [px], of a height of 20
constexpr double kMargin = 10.0;  // [px], for an arrow at either end
constexpr double kSlack = 0.25;   // of the axis beyond what it must show

std::string format(const char* pattern, double a, double b = 0.0, double c = 0.0, double d = 0.0) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, a, b, c, d);
  return text;
}

/// The part of the real line that is drawn.
struct Axis {
  double low = 0.0;
  double high = 1.0;

  bool holds(double value) const { return value >= low && value <= high; }
  double to_x(double value) const {
    const double share = (std::clamp(value, low, high) - low) / (high - low);
    return kMargin + share * (kWidth - 2.0 * kMargin);
  }
};

bool has_interval(const estimator::ParameterEstimate& estimate) {
  return !estimate.at_bound && std::isfinite(estimate.standard_deviation) &&
         estimate.standard_deviation > 0.0;
}

double half_interval(const ParameterPrior& prior) {
  return estimator::kNormalHalfWidth95 * prior.standard_deviation;
}

Axis make_axis(const estimator::ParameterEstimate& estimate, const ParameterPrior& prior) {
  double low = estimate.value;
  double high = estimate.value;
  const auto include = [&](double center, double half) {
    low = std::min(low, center - half);
    high = std::max(high, center + half);
  };
  if (has_interval(estimate)) include(estimate.value, estimate.half_interval);
  if (prior.exists()) include(prior.mean, half_interval(prior));
  if (!(high > low)) include(estimate.value, std::max(0.2 * std::abs(estimate.value), 1e-12));
  const double slack = kSlack * (high - low);
  return {low - slack, high + slack};
}

std::string start_mark(const Axis& axis, double start) {
  if (!std::isfinite(start)) return "";
  if (axis.holds(start)) {
    return format("<circle cx=\"%.1f\" cy=\"%.0f\" r=\"4\" class=\"ring\"/>", axis.to_x(start),
                  kMiddle);
  }
  const bool left = start < axis.low;
  const double tip = left ? 1.0 : kWidth - 1.0;
  const double base = left ? 8.0 : kWidth - 8.0;
  return format("<path d=\"M%.1f 10L%.1f 6", tip, base) +
         format("L%.1f 14Z\" class=\"ring\"/>", base);
}

std::string bound_mark(const Axis& axis, double bound) {
  if (!std::isfinite(bound) || !axis.holds(bound)) return "";
  return format("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"2\" y2=\"18\" class=\"bound\"/>",
                axis.to_x(bound), axis.to_x(bound));
}

}  // namespace

std::string svg_interval(const estimator::ParameterEstimate& estimate,
                         const ParameterPrior& prior) {
  if (!std::isfinite(estimate.value)) return "";
  const Axis axis = make_axis(estimate, prior);
  std::string svg = "<svg viewBox=\"0 0 200 20\" class=\"interval\" aria-hidden=\"true\">";
  if (prior.exists()) {
    const double left = axis.to_x(prior.mean - half_interval(prior));
    const double right = axis.to_x(prior.mean + half_interval(prior));
    svg += format("<rect x=\"%.1f\" width=\"%.1f\" y=\"3\" height=\"14\" class=\"prior\"/>", left,
                  right - left);
  }
  const bool unseen = std::isinf(estimate.standard_deviation) && !estimate.at_bound;
  svg += format("<line x1=\"%.0f\" x2=\"%.0f\" y1=\"10\" y2=\"10\" class=\"", kMargin,
                kWidth - kMargin) +
         (unseen ? "line simulated dashed\"/>" : "axis\"/>");
  svg += bound_mark(axis, estimate.lower) + bound_mark(axis, estimate.upper);
  if (has_interval(estimate)) {
    const double half = estimate.half_interval;
    svg +=
        format("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"10\" y2=\"10\" class=\"line simulated thick\"/>",
               axis.to_x(estimate.value - half), axis.to_x(estimate.value + half));
  }
  svg += start_mark(axis, estimate.initial);
  svg += format("<circle cx=\"%.1f\" cy=\"%.0f\" r=\"4\" class=\"dot simulated\"/>",
                axis.to_x(estimate.value), kMiddle);
  return svg + "</svg>";
}

}  // namespace service
