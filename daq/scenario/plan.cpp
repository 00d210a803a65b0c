#include "daq/scenario/plan.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>

namespace daq {
namespace {

constexpr int kWidth = 900, kHeight = 300, kMargin = 50;  // [px]
constexpr std::size_t kPointsMax = 20000;

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return format("<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\">", x, y, anchor) + text +
         "</text>\n";
}

}  // namespace

CommandPlan make_plan(Scenario scenario, double period_s) {
  assert(period_s > 0.0);
  const auto samples = static_cast<std::size_t>(std::ceil(scenario.duration_s() / period_s));
  CommandPlan plan{period_s, {}};
  plan.command.reserve(samples);
  Observation at_rest;
  for (JointState& joint : at_rest.joint) joint.valid = true;
  for (std::size_t k = 0; k < samples; ++k) {
    at_rest.time_s = static_cast<double>(k) * period_s;
    plan.command.push_back(scenario.command(at_rest));
  }
  return plan;
}

std::string plan_csv(const CommandPlan& plan) {
  std::string csv = "t_s,command\n";
  const std::size_t count = plan.command.size();
  for (std::size_t k = 0; k < count; ++k) {
    if (k > 0 && plan.command[k] == plan.command[k - 1]) continue;
    csv += format("%.9g,%.9g\n", static_cast<double>(k) * plan.period_s, plan.command[k]);
  }
  return csv + format("%.9g,0\n", static_cast<double>(count) * plan.period_s);
}

std::string plan_svg(const CommandPlan& plan, const std::string& title, const std::string& unit) {
  double peak = 0.0;
  for (const double u : plan.command) peak = std::max(peak, std::abs(u));
  const double range = peak > 0.0 ? peak : 1.0;
  const double end_s = static_cast<double>(plan.command.size()) * plan.period_s;
  const double x_scale = (kWidth - 2.0 * kMargin) / std::max(end_s, plan.period_s);
  const double y_zero = kHeight / 2.0;
  const double y_scale = (kHeight / 2.0 - kMargin) / range;

  std::string svg = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      kWidth, kHeight);
  svg += label(kWidth / 2.0, 25, "middle", title);
  svg += label(kMargin - 5, y_zero - range * y_scale, "end", format("%.4g", range));
  svg += label(kMargin - 5, y_zero + range * y_scale, "end", format("%.4g", -range));
  svg += label(kMargin - 5, y_zero, "end", "0 " + unit);
  svg += label(kMargin, kHeight - 15, "middle", "0");
  svg += label(kWidth - kMargin, kHeight - 15, "middle", format("%.4g s", end_s));
  svg += format("<path d=\"M%d %.1fH%d\" stroke=\"#999\" fill=\"none\"/>\n<path d=\"", kMargin,
                y_zero, kWidth - kMargin);
  // A held value is drawn as a stair: to the new time at the old height, then to the new height.
  const std::size_t stride = std::max<std::size_t>(1, plan.command.size() / kPointsMax);
  for (std::size_t k = 0; k < plan.command.size(); k += stride) {
    const double x = kMargin + static_cast<double>(k) * plan.period_s * x_scale;
    const double y = y_zero - plan.command[k] * y_scale;
    svg += k == 0 ? format("M%.2f %.2f", x, y) : format("H%.2fV%.2f", x, y);
  }
  return svg + "\" stroke=\"#06c\" fill=\"none\"/>\n</svg>\n";
}

}  // namespace daq
