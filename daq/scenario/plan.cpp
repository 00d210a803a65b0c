#include "daq/scenario/plan.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <functional>
#include <utility>

#include "proto/notation/axis_ticks.hpp"
#include "proto/text/printable.hpp"

namespace daq {
namespace {

// Drawing area of a chart and its margins [px]. Charts are stacked vertically.
constexpr double kLeft = 60.0, kRight = 860.0, kTop = 50.0, kBottom = 290.0;
constexpr int kWidth = 900, kHeight = 340;
constexpr int kTicksMax = 10;        // per axis
constexpr double kPixelsMin = 0.05;  // shorter time steps are drawn as one

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

std::string label(double x, double y, const char* anchor, const std::string& text) {
  return format("<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\">", x, y, anchor) +
         proto::escape_markup(proto::escape_for_terminal(text)) + "</text>\n";
}

std::string grid_line(double x1, double y1, double x2, double y2) {
  return format("<path d=\"M%.2f %.2fL%.2f %.2f\" stroke=\"#ddd\"/>\n", x1, y1, x2, y2);
}

// Conversion of times and commands to coordinates of the picture.
struct Axes {
  double end_s;
  double range;  // largest magnitude of a command

  double x(double time_s) const { return kLeft + (kRight - kLeft) * time_s / end_s; }
  double y(double command) const {
    return (kTop + kBottom) / 2.0 - (kBottom - kTop) / 2.0 * command / range;
  }
};

std::string draw_axes(const Axes& axes, const std::string& quantity) {
  std::string svg;
  const std::vector<double> times = notation::choose_axis_ticks(0.0, axes.end_s, kTicksMax);
  const notation::TickLabels time_texts = notation::format_tick_labels(times);
  for (std::size_t k = 0; k < times.size(); ++k) {
    const double x = axes.x(times[k]);
    svg += grid_line(x, kTop, x, kBottom);
    svg += label(x, kBottom + 18, "middle", time_texts.texts[k]);
  }
  const std::vector<double> commands =
      notation::choose_axis_ticks(-axes.range, axes.range, kTicksMax);
  const notation::TickLabels command_texts = notation::format_tick_labels(commands);
  for (std::size_t k = 0; k < commands.size(); ++k) {
    const double y = axes.y(commands[k]);
    svg += grid_line(kLeft, y, kRight, y);
    svg += label(kLeft - 8, y + 4, "end", command_texts.texts[k]);
  }
  svg += label(kRight, kBottom + 38, "end", "time [s]");
  return svg + label(kLeft - 8, kTop - 18, "start", quantity);
}

// Each value is held until the next one, so the line is a staircase; only its changes are written.
std::string draw_commands(const std::vector<double>& commands, double period_s, const Axes& axes) {
  std::string path;
  double drawn_x = kLeft;
  double drawn = 0.0;
  for (std::size_t k = 0; k < commands.size(); ++k) {
    const double x = axes.x(static_cast<double>(k) * period_s);
    const double command = commands[k];
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

std::string draw_motor(const PlannedMotorCommands& motor, double period_s,
                       const std::string& name) {
  double peak = 0.0;
  for (const double u : motor.command) peak = std::max(peak, std::abs(u));
  const double end_s = static_cast<double>(motor.command.size()) * period_s;
  const Axes axes{std::max(end_s, period_s), peak > 0.0 ? peak : 1.0};
  return draw_axes(axes, name + " [" + motor.unit + "]") + "<path d=\"" +
         draw_commands(motor.command, period_s, axes) +
         "\" stroke=\"#06c\" stroke-width=\"1.3\" fill=\"none\"/>\n";
}

// One row: a time, and the commands from then on.
std::string plan_row(double time_s, const std::vector<PlannedMotorCommands>& motors,
                     const std::function<double(const PlannedMotorCommands&)>& command) {
  std::string row = format("%.9g", time_s);
  for (const PlannedMotorCommands& motor : motors) row += format(",%.9g", command(motor));
  return row + "\n";
}

}  // namespace

CommandPlan make_command_plan(Scenario scenario, double period_s,
                              std::vector<PlannedMotorCommands> motors) {
  assert(period_s > 0.0);
  const double rate_Hz = 1.0 / period_s;  // often an integer, so that times are the nearest doubles
  CommandPlan plan{period_s, std::move(motors)};
  std::vector<double> commands(plan.motors.size());
  Observation at_rest;
  for (JointState& joint : at_rest.joint) joint.valid = true;
  for (int k = 0; at_rest.time_s < scenario.duration_s(); ++k) {
    scenario.compute_command(at_rest, commands);
    for (std::size_t m = 0; m < commands.size(); ++m) {
      plan.motors[m].command.push_back(commands[m]);
    }
    at_rest.time_s = (k + 1) / rate_Hz;
  }
  return plan;
}

std::string command_plan_csv(const CommandPlan& plan) {
  const std::vector<PlannedMotorCommands>& motors = plan.motors;
  std::string csv = "t_s";
  for (const PlannedMotorCommands& motor : motors) {
    csv += motors.size() == 1 ? ",command" : ",command_" + motor.joint;
  }
  csv += "\n";
  const std::size_t count = motors.empty() ? 0 : motors.front().command.size();
  for (std::size_t k = 0; k < count; ++k) {
    const bool changes =
        k == 0 || std::ranges::any_of(motors, [&](const PlannedMotorCommands& motor) {
          return motor.command[k] != motor.command[k - 1];
        });
    if (!changes) continue;
    csv += plan_row(static_cast<double>(k) * plan.period_s, motors,
                    [&](const PlannedMotorCommands& motor) { return motor.command[k]; });
  }
  return csv + plan_row(static_cast<double>(count) * plan.period_s, motors,
                        [](const PlannedMotorCommands&) { return 0.0; });
}

std::string command_plan_svg(const CommandPlan& plan, const std::string& title) {
  const std::vector<PlannedMotorCommands>& motors = plan.motors;
  std::string svg = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      kWidth, kHeight * static_cast<int>(motors.size()));
  svg += label(kWidth / 2.0, 22, "middle", title);
  for (std::size_t m = 0; m < motors.size(); ++m) {
    const std::string name = motors.size() == 1 ? "command" : "command of " + motors[m].joint;
    svg += format("<g transform=\"translate(0 %d)\">\n", kHeight * static_cast<int>(m)) +
           draw_motor(motors[m], plan.period_s, name) + "</g>\n";
  }
  return svg + "</svg>\n";
}

}  // namespace daq
