#include "daq/console/run_progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "proto/notation/number_format.hpp"

namespace daq {
namespace {

constexpr std::chrono::milliseconds kShowPeriod(100);
constexpr double kLinePeriod_s = 5.0;
constexpr int kBarWidth = 30;

template <typename... Values>
std::string format_text(const char* pattern, const Values&... values) {
  char text[128];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

/// Returns a line of the view: name, range with a mark at the value, value and unit.
std::string bar_line(const std::string& name, double value, double min, double max,
                     const std::string& unit) {
  return format_text("  %-12s %9s ", name.c_str(), notation::format_number(min).c_str()) +
         format_range_bar(value, min, max, kBarWidth) +
         format_text(" %-9s ", notation::format_number(max).c_str()) +
         (std::isnan(value) ? std::string("no reading") : format_text("%9.3f ", value) + unit);
}

}  // namespace

std::string format_range_bar(double value, double min, double max, int width) {
  std::string bar(static_cast<std::size_t>(width), '-');
  if (value < min) {
    bar.front() = '<';
  } else if (value > max) {
    bar.back() = '>';
  } else if (min < max && !std::isnan(value)) {
    const double share = (value - min) / (max - min);
    bar[static_cast<std::size_t>(std::lround(share * (width - 1)))] = 'o';
  }
  return "|" + bar + "|";
}

std::string format_progress_bar(double share, int width) {
  const auto filled = static_cast<int>(std::lround(width * std::clamp(share, 0.0, 1.0)));
  std::string bar = "[";
  for (int k = 0; k < width; ++k) bar += k < filled ? '#' : '.';
  return bar += ']';
}

std::string describe_command_delays(const DelayCounts& delays, double tick_s) {
  const std::size_t longest = delays.size() - 1;  // also counts all longer delays
  double total = 0.0;
  std::size_t first = delays.size(), last = 0;
  for (std::size_t k = 0; k < delays.size(); ++k) {
    const std::int64_t count = delays[k].load();
    if (count == 0) continue;
    total += static_cast<double>(count);
    first = std::min(first, k);
    last = k;
  }
  if (total == 0.0) return "";
  const auto time = [&](std::size_t ticks) {
    return notation::format_number(1e3 * tick_s * static_cast<double>(ticks)) + " ms";
  };
  const auto share = [&](std::size_t k) {
    const double percent = 100.0 * static_cast<double>(delays[k].load()) / total;
    return notation::format_number(percent < 1.0 ? percent : std::floor(percent), 2) + " %";
  };
  const std::string beyond = " after more than " + time(longest - 1);
  const std::string within = " commands acted within " + time(std::max<std::size_t>(first, 1));
  if (first == longest) return "all commands acted" + beyond;
  if (first == last) return "all" + within;
  return share(first) + " of" + within + ", " +
         (last == longest ? share(last) + beyond : "all within " + time(last));
}

std::string RunProgress::progress_line(const Supervisor& supervisor) const {
  const double time_s = supervisor.time_s();
  std::string text = "  " + supervisor.describe_held_joint();
  if (text.size() > 2) text += "  ";
  if (running_since_s_ >= 0.0) {
    const double ran_s = time_s - running_since_s_;
    text +=
        format_progress_bar(ran_s / settings_.duration_s, kBarWidth) +
        format_text(" %.1f of %s s", ran_s, notation::format_number(settings_.duration_s).c_str());
  } else {
    text += format_text("%.1f s", time_s);
  }
  const SampleCounts& counts = supervisor.sample_counts();
  return text +
         format_text("  %llu samples, %llu lost", static_cast<unsigned long long>(counts.recorded),
                     static_cast<unsigned long long>(counts.lost_on_link + counts.lost_in_ring));
}

std::vector<std::string> RunProgress::make_view(const Supervisor& supervisor,
                                                const UntilRule& rule) const {
  std::vector<std::string> view = {progress_line(supervisor)};
  const LoopRecord& last = supervisor.last_record();
  for (std::size_t j = 0; j < settings_.limits.joint.size(); ++j) {
    const JointLimits& joint = settings_.limits.joint[j];
    const JointState& state = last.observation.joint[j];
    view.push_back(bar_line("joint " + joint.joint, state.valid ? state.angle_rad : NAN,
                            joint.angle_rad_min, joint.angle_rad_max, joint.slides ? "m" : "rad"));
  }
  for (std::size_t m = 0; m < settings_.command_units.size(); ++m) {
    const MotorLimits& motor = settings_.limits.motor[m];
    view.push_back(bar_line("motor " + motor.joint, last.sent[m], -motor.command_max,
                            motor.command_max, settings_.command_units[m]));
  }
  for (const std::string& line : rule.describe_targets()) view.push_back("  " + line);
  return view;
}

void RunProgress::show(const Supervisor& supervisor, const UntilRule& rule) {
  const double time_s = supervisor.time_s();
  if (running_since_s_ < 0.0 && supervisor.last_record().phase == RunPhase::kRunning) {
    running_since_s_ = time_s;
  }
  if (!terminal_) {
    if (time_s < next_line_s_) return;
    next_line_s_ = time_s + kLinePeriod_s;
    for (const std::string& line : rule.describe_targets()) {
      say(format_text("%.1f s: ", time_s) + line);
    }
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - shown_at_ < kShowPeriod) return;
  shown_at_ = now;
  writer_.show(make_view(supervisor, rule));
}

}  // namespace daq
