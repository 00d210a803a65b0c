#include "daq/console/run_progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ostream>

#include "proto/notation/number_format.hpp"
#include "proto/text/command_line/standard_streams.hpp"

namespace daq {
namespace {

constexpr std::chrono::milliseconds kShowPeriod(200);
constexpr int kBarWidth = 30;

}  // namespace

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

RunProgress::RunProgress(std::ostream& out, bool terminal, double duration_s)
    : out_(out), terminal_(terminal), duration_s_(duration_s) {}

void RunProgress::say(const std::string& line) {
  clear();
  out_ << line << std::endl;
}

void RunProgress::show(const Supervisor& supervisor) {
  const LoopRecord& last = supervisor.last_record();
  const double time_s = supervisor.time_s();
  if (running_since_s_ < 0.0 && last.phase == RunPhase::kRunning) running_since_s_ = time_s;
  if (!terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - shown_at_ < kShowPeriod) return;
  shown_at_ = now;
  std::string text = "  " + supervisor.describe_held_joint();
  if (text.size() > 2) text += "  ";
  char numbers[96];
  if (running_since_s_ >= 0.0) {
    const double ran_s = time_s - running_since_s_;
    text += format_progress_bar(ran_s / duration_s_, kBarWidth) + " ";
    std::snprintf(numbers, sizeof numbers, "%.1f of %s s", ran_s,
                  notation::format_number(duration_s_).c_str());
  } else {
    std::snprintf(numbers, sizeof numbers, "%.1f s", time_s);
  }
  text += numbers;
  const SampleCounts& sample_counts = supervisor.sample_counts();
  std::snprintf(
      numbers, sizeof numbers, "  %llu samples, %llu lost",
      static_cast<unsigned long long>(sample_counts.recorded),
      static_cast<unsigned long long>(sample_counts.lost_on_link + sample_counts.lost_in_ring));
  out_ << proto::TerminalCodes{"\r"} << text << numbers << proto::TerminalCodes{"\033[K"}
       << std::flush;
  shown_ = true;
}

void RunProgress::clear() {
  if (shown_) out_ << proto::TerminalCodes{"\r\033[K"} << std::flush;
  shown_ = false;
}

}  // namespace daq
