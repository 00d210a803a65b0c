#include "service/cli/terminal.hpp"

#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <string_view>
#include <thread>

#include "proto/text/command_line/standard_streams.hpp"
#include "proto/text/printable.hpp"
#include "service/cli/command.hpp"
#include "service/messages/stage_text.hpp"
#include "service/options/option_texts.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr std::string_view kReset = "\033[0m", kBold = "\033[1m", kRed = "\033[31m",
                           kGreen = "\033[32m", kYellow = "\033[33m";

constexpr std::array kTones = {std::string_view(), kGreen, kYellow, kRed};  // by TextTone

struct ColouredWord {
  std::string_view word, code;
};
constexpr std::array kSeverities = {ColouredWord{"warning:", kYellow},
                                    ColouredWord{"fault:", kRed}};

std::string painted(std::string_view text, std::string_view code) {
  if (code.empty()) return std::string(text);
  return std::string(code).append(text).append(kReset);
}

/// Returns a line in colour. A heading is not indented and ends with a colon.
std::string in_colours(const std::string& line) {
  if (!line.empty() && line.front() != ' ' && line.back() == ':') return painted(line, kBold);
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  for (const ColouredWord& each : kSeverities) {
    if (!std::string_view(line).substr(begin).starts_with(each.word)) continue;
    return line.substr(0, begin) + painted(each.word, each.code) +
           line.substr(begin + each.word.size());
  }
  return line;
}

bool has_colour() {
  const char* const forbidden = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return (forbidden == nullptr || *forbidden == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait");

void on_interrupt(int) {
  interrupted.store(true);
  std::signal(SIGINT, SIG_DFL);
}

constexpr int kGrace_s = 60;  // from the end of the time limit to the end of the program
std::atomic<bool> timed_out{false};

void on_time_limit(int) {
  if (timed_out.exchange(true)) {
    constexpr std::string_view kMessage =
        "rigcal: the time limit (--time-limit) is over; nothing was written\n";
    static_cast<void>(!::write(STDERR_FILENO, kMessage.data(), kMessage.size()));
    ::_exit(kInterrupted);
  }
  interrupted.store(true);
}

/// Calls on_time_limit after a time, and again after kGrace_s; never for 0.
void set_alarm(double seconds) {
  const double whole = std::floor(seconds);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(whole);
  timer.it_value.tv_usec = static_cast<suseconds_t>((seconds - whole) * 1e6);
  timer.it_interval.tv_sec = kGrace_s;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

/// Stages of a calibration, in this order. A calibration skips the last ones if it does not need
/// them, and begins again with the first one to test a repair.
constexpr std::array kStages = {
    estimator::EstimationStage::kJointEstimation, estimator::EstimationStage::kSimulationFit,
    estimator::EstimationStage::kPartComparison, estimator::EstimationStage::kMisfitCauses};

/// Numbers the stages of a calibration.
class StageCounter {
 public:
  void begin(const estimator::FitStage& begun) {
    stage_ = begun;
    const auto at = std::ranges::find(kStages, begun.stage);
    const auto number = at == kStages.end() ? 0 : static_cast<int>(at - kStages.begin()) + 1;
    if (number > 0 && number < number_) ++fit_;
    number_ = number;
  }

  std::string name() const { return describe_stage_and_solve(stage_); }
  std::string stage_name() const { return std::string(service::stage_name(stage_.stage)); }

  /// Returns the name of the solve; that of the stage in its first solve.
  std::string step_name() const {
    const std::string_view solve = describe_solve(stage_.solve);
    return solve.empty() ? stage_name() : std::string(solve);
  }

  /// Returns "stage 2 of 4, "; in a later fit, "fit 2, stage 2 of 4, "; empty without a number.
  std::string number() const {
    if (number_ == 0) return "";
    return (fit_ == 1 ? "" : "fit " + std::to_string(fit_) + ", ") + "stage " +
           std::to_string(number_) + " of " + std::to_string(kStages.size()) + ", ";
  }

 private:
  estimator::FitStage stage_;
  int number_ = 0, fit_ = 1;
};

}  // namespace

TerminalSize terminal_size(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {};
  }
  return {size.ws_col, size.ws_row};
}

std::string shorten_to_width(const std::string& text, int columns) {
  if (display_width(text) <= columns) return text;
  std::string cut;
  int width = 0;
  for (const char c : text) {
    const bool starts = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    if (starts && ++width >= columns) break;
    cut += c;
  }
  return cut += "…";
}

std::string format_for_terminal(const std::string& text, TextTone first, int columns,
                                bool in_colour) {
  constexpr int kHangingIndent = 4;
  std::string all;
  std::istringstream lines(proto::escape_lines_for_terminal(text));
  bool is_first = true;
  for (std::string line; std::getline(lines, line);) {
    const auto indent = static_cast<int>(std::min(line.find_first_not_of(' '), line.size()));
    const int hanging = indent == 0 ? 0 : indent + kHangingIndent;
    // A wrapped row of a table would not stay below its heading.
    const bool is_table_row = line.find("  ", line.find_first_not_of(' ')) != std::string::npos;
    const auto parts =
        is_table_row ? std::vector<std::string>{line} : wrap_text(line, columns, hanging);
    for (const std::string& part : parts) {
      const bool paints_all = is_first && first != TextTone::kPlain;
      all += !in_colour ? part
             : paints_all
                 ? painted(part, std::string(kBold).append(kTones[static_cast<std::size_t>(first)]))
                 : in_colours(part);
      all += '\n';
    }
    is_first = false;
  }
  return all;
}

void print_text(const std::string& text, TextTone first) {
  if (::isatty(STDOUT_FILENO) != 1) {
    std::cout << text << std::flush;
    return;
  }
  const int columns = std::min(terminal_size(STDOUT_FILENO).columns, kTextColumnsMax);
  const std::string formatted = format_for_terminal(text, first, columns, has_colour());
  std::cout << proto::TerminalCodes{formatted} << std::flush;
}

InterruptFlag::InterruptFlag(double time_limit) : time_limit_(time_limit) {
  interrupted.store(false);
  timed_out.store(false);
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGALRM, on_time_limit);
  set_alarm(time_limit);
}

InterruptFlag::~InterruptFlag() {
  set_alarm(0.0);
  std::signal(SIGALRM, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
  if (!timed_out.load()) return;
  std::cerr << "note: " << describe_time_limit_end(time_limit_, "raise --time-limit") << '\n';
}

const std::atomic<bool>& InterruptFlag::flag() const { return interrupted; }

using proto::TerminalCodes;

ProgressLine::ProgressLine(ProgressOptions options)
    : options_(options), terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() { erase(); }

void ProgressLine::erase() {
  if (shown_) std::cerr << TerminalCodes{"\r\033[K"} << std::flush;
  shown_ = false;
}

void ProgressLine::show(const std::string& text, const std::string& stage) {
  if (options_.quiet) return;
  if (terminal_) {
    // "\033[K" clears the rest of a longer previous text.
    std::cerr << TerminalCodes{"\r"}
              << shorten_to_width(text, terminal_size(STDERR_FILENO).columns - 1)
              << TerminalCodes{"\033[K"} << std::flush;
    shown_ = true;
  } else if (stage != stage_ && !options_.verbose) {
    std::cerr << stage << '\n';
    stage_ = stage;
  }
}

void ProgressLine::log(const std::string& line) {
  if (options_.quiet) return;
  erase();
  std::cerr << line << '\n';
}

std::string ProgressLine::elapsed_text() const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
  return std::to_string(std::lround(std::floor(passed.count()))) + " s";
}

estimator::CalibrationMonitor make_monitor(const InterruptFlag& interrupt, ProgressLine& progress,
                                           int threads, const std::string* part) {
  estimator::CalibrationMonitor monitor;
  monitor.threads =
      threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  monitor.stop = &interrupt.flag();
  struct State {
    StageCounter stage;
    bool is_first = true, has_shown = false;
  };
  const auto state = std::make_shared<State>();
  const auto show = [state, part, &progress](const std::string& detail) {
    const std::string where = part == nullptr ? state->stage.number() : *part + ", ";
    progress.show(where + state->stage.step_name() + detail + ", " + progress.elapsed_text(),
                  part == nullptr ? where + state->stage.stage_name() : *part);
  };
  monitor.on_stage = [state, show](const estimator::FitStage& begun, const estimator::Mechanism&) {
    state->is_first = state->is_first && !state->has_shown;
    state->has_shown = false;
    state->stage.begin(begun);
    show("");
  };
  monitor.on_iteration = [state, part, show, &progress](const estimator::IterationRecord& record) {
    if (progress.is_verbose()) {
      const bool changed = !state->is_first && !state->has_shown;
      progress.log(format_iteration(
          (part == nullptr ? state->stage.number() : *part + ", ") + state->stage.name(),
          record.iteration, record.cost, record.gradient_norm, changed));
    }
    state->has_shown = true;
    show(": iteration " + std::to_string(record.iteration) + ", cost " +
         format_number(record.cost, 4));
  };
  return monitor;
}

}  // namespace service
