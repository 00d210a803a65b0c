#include "daq/scenario/plan.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>

#include "proto/notation/axis_ticks.hpp"
#include "proto/text/markup.hpp"
#include "proto/text/printable.hpp"

namespace daq {
namespace {

// The drawing area and its surroundings [px].
constexpr double kLeft = 60.0, kRight = 860.0, kTop = 50.0, kBottom = 290.0;
constexpr int kWidth = 900, kHeight = 340;
constexpr int kTicksMax = 10;        // of an axis
constexpr double kPixelsMin = 0.05;  // shorter steps in time are drawn as one

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return format("<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\">", x, y, anchor) +
         proto::escaped_markup(proto::printable(text)) + "</text>\n";
}

std::string grid_line(double x1, double y1, double x2, double y2) {
  return format("<path d=\"M%.2f %.2fL%.2f %.2f\" stroke=\"#ddd\"/>\n", x1, y1, x2, y2);
}

// Where times and commands lie in the picture.
struct Axes {
  double end_s;
  double range;  // largest magnitude of a command

  double x(double time_s) const { return kLeft + (kRight - kLeft) * time_s / end_s; }
  double y(double command) const {
    return (kTop + kBottom) / 2.0 - (kBottom - kTop) / 2.0 * command / range;
  }
};

std::string draw_axes(const Axes& axes, const std::string& unit) {
  std::string svg;
  const std::vector<double> times = notation::nice_ticks(0.0, axes.end_s, kTicksMax);
  const notation::TickTexts time_texts = notation::tick_texts(times);
  for (std::size_t k = 0; k < times.size(); ++k) {
    const double x = axes.x(times[k]);
    svg += grid_line(x, kTop, x, kBottom);
    svg += label(x, kBottom + 18, "middle", time_texts.texts[k]);
  }
  const std::vector<double> commands = notation::nice_ticks(-axes.range, axes.range, kTicksMax);
  const notation::TickTexts command_texts = notation::tick_texts(commands);
  for (std::size_t k = 0; k < commands.size(); ++k) {
    const double y = axes.y(commands[k]);
    svg += grid_line(kLeft, y, kRight, y);
    svg += label(kLeft - 8, y + 4, "end", command_texts.texts[k]);
  }
  svg += label(kRight, kBottom + 38, "end", "time [s]");
  return svg + label(kLeft - 8, kTop - 18, "start", "command [" + unit + "]");
}

// Each value is held until the next one, so the line is a stair; only its changes are written.
std::string draw_commands(const CommandPlan& plan, const Axes& axes) {
  std::string path;
  double drawn_x = kLeft;
  double drawn = 0.0;
  for (std::size_t k = 0; k < plan.command.size(); ++k) {
    const double x = axes.x(static_cast<double>(k) * plan.period_s);
    const double command = plan.command[k];
    if (k == 0) {
      path += format("M%.2f %.2f", x, axes.y(command));
    } else if (command == drawn || x - drawn_x < kPixelsMin) {
      continue;
    } else {
      path += format("H%.2fV%.2f", x, axes.y(command));
    }
    drawn_x = x;
    drawn = command;
  }
  return path + format("H%.2f", kRight);
}

}  // namespace

CommandPlan make_plan(Scenario scenario, double period_s) {
  assert(period_s > 0.0);
  const double rate_Hz = 1.0 / period_s;  // whole, so that a sample's time is the nearest number
  const auto samples = static_cast<std::size_t>(std::ceil(scenario.duration_s() / period_s));
  CommandPlan plan{period_s, {}};
  plan.command.reserve(samples);
  Observation at_rest;
  for (JointState& joint : at_rest.joint) joint.valid = true;
  for (std::size_t k = 0; k < samples; ++k) {
    at_rest.time_s = static_cast<double>(k) / rate_Hz;
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
  const double end_s = static_cast<double>(plan.command.size()) * plan.period_s;
  const Axes axes{std::max(end_s, plan.period_s), peak > 0.0 ? peak : 1.0};
  std::string svg = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      kWidth, kHeight);
  svg += label(kWidth / 2.0, 22, "middle", title);
  svg += draw_axes(axes, unit);
  svg += "<path d=\"" + draw_commands(plan, axes);
  return svg + "\" stroke=\"#06c\" stroke-width=\"1.3\" fill=\"none\"/>\n</svg>\n";
}

}  // namespace daq
