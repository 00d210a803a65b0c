#include "service/cli/remote/job_follower.hpp"

#include <google/protobuf/util/json_util.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <sstream>

#include "proto/stream/service_limits.hpp"
#include "proto/text/command_line/standard_streams.hpp"
#include "proto/text/printable.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using rigcal::v1::JobInfo;
using rigcal::v1::JobProgress;

constexpr int kBarWidth = 30;

// The number of iterations is not known in advance. Every kHalvingIterations iterations halve the
// remaining part of the bar. Typical calibrations take 10 to 40.
constexpr double kHalvingIterations = 10.0;

// Share of all calibrations of the job. Each stage counts its iterations from 0.
double share_of(const JobProgress& progress) {
  const int count = std::max(progress.calibration_count(), 1);
  const int before = std::clamp(progress.calibration() - 1, 0, count - 1);
  const double within = 1.0 - std::exp2(-progress.iteration() / kHalvingIterations);
  return (before + within) / count;
}

std::string bar(double share) {
  const auto filled = static_cast<int>(kBarWidth * share);  // full only when done
  std::string text = "[";
  for (int k = 0; k < kBarWidth; ++k) text += k < filled ? '#' : '.';
  return text += ']';
}

std::string change_text(double before, double now) {
  if (!std::isfinite(before) || before == 0.0) return "";
  const double percent = 100.0 * (now - before) / std::abs(before);
  if (std::abs(percent) < 0.005) return "";  // emphasizes the values that still change
  return format_signed(percent, 3) + " %";
}

// Gradient and step norms; empty before the first step.
std::string convergence_text(const JobProgress& progress) {
  if (!(progress.step_norm() > 0.0)) return "";
  return fmt::format("gradient {}  step {}", format_number(progress.gradient_norm(), 2),
                     format_number(progress.step_norm(), 2));
}

std::string stage_text(const JobProgress& progress) {
  if (progress.stage().empty()) return "reading the recordings";
  if (progress.values_size() == 0) return progress.stage();
  return fmt::format("{}: iteration {}  cost {}", progress.stage(), progress.iteration(),
                     format_number(progress.cost(), 6));
}

constexpr int kPollPeriod_ms = 200;

double elapsed_s(const JobInfo& info) {
  if (info.started_unix_ns() == 0) return 0.0;
  const std::int64_t now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                                  std::chrono::system_clock::now().time_since_epoch())
                                  .count();
  const std::int64_t end_ns = info.ended_unix_ns() == 0 ? now_ns : info.ended_unix_ns();
  return 1e-9 * static_cast<double>(end_ns - info.started_unix_ns());
}

class Display {
 public:
  Display(bool quiet, bool json)
      : quiet_(quiet), json_(json), terminal_(::isatty(STDERR_FILENO) == 1) {}

  void show(const JobInfo& info) {
    info_ = info;
    if (json_) return print_line();
    if (quiet_) return;
    if (terminal_) {
      picture_.set_job_info(info);
      return redraw();
    }
    const std::string status = format_job_stage(info);
    if (status != status_) std::cerr << status << '\n';
    status_ = status;
  }

  /// Prints a line break after the "^C" that a terminal shows.
  void end_line() const {
    if (terminal_) std::cerr << '\n';
  }

  /// Updates the displayed elapsed time when no update of the job has arrived.
  void tick() {
    if (terminal_ && !quiet_ && !json_ && info_.state() == rigcal::v1::JOB_RUNNING &&
        std::floor(elapsed_s(info_)) != drawn_s_) {
      redraw();
    }
  }

 private:
  void print_line() const {
    std::string line;
    google::protobuf::util::JsonPrintOptions options;
    options.always_print_primitive_fields = true;
    if (google::protobuf::util::MessageToJsonString(info_, &line, options).ok()) {
      std::cout << line << std::endl;
    }
  }

  void redraw() {
    // Moves up to the start of the last picture and clears from there.
    const std::string up = "\033[" + std::to_string(line_count_) + "A\r\033[J";
    if (line_count_ > 0) std::cerr << proto::TerminalCodes{up};
    drawn_s_ = std::floor(elapsed_s(info_));
    const auto lines = picture_.lines(terminal_size(STDERR_FILENO), drawn_s_);
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    std::cerr << text << std::flush;
    line_count_ = lines.size();
  }

  bool quiet_;
  bool json_;
  bool terminal_;
  JobInfo info_;
  JobDisplay picture_;
  std::string status_;  // on the last line
  double drawn_s_ = -1.0;
  std::size_t line_count_ = 0;
};

}  // namespace

std::string format_job_status(const JobInfo& info) {
  const JobProgress& progress = info.progress();
  if (info.state() == rigcal::v1::JOB_QUEUED) {
    return "queued, place " + std::to_string(info.queue_position()) +
           (info.error().empty() ? "" : ": " + proto::escape_for_terminal(info.error()));
  }
  if (info.state() != rigcal::v1::JOB_RUNNING) return proto::state_name(info.state());
  const std::string convergence = convergence_text(progress);
  return proto::escape_for_terminal(stage_text(progress)) +
         (convergence.empty() ? "" : "  " + convergence);
}

std::string format_job_stage(const JobInfo& info) {
  const std::string& stage = info.progress().stage();
  if (info.state() != rigcal::v1::JOB_RUNNING || stage.empty()) return format_job_status(info);
  return proto::escape_for_terminal(stage.substr(0, stage.find(", ")));
}

void JobDisplay::set_job_info(const JobInfo& info) {
  const JobProgress& old = info_.progress();
  const JobProgress& now = info.progress();
  const bool same_stage = old.stage() == now.stage();
  if (!same_stage || old.iteration() != now.iteration()) {
    before_.clear();
    if (same_stage) before_.assign(old.values().begin(), old.values().end());
  }
  bar_share_ = std::max(bar_share_, share_of(now));
  info_ = info;
}

std::vector<std::string> JobDisplay::lines(const TerminalSize& size, double elapsed_s) const {
  std::vector<std::string> lines;
  std::string head = info_.job_id() + "  " + proto::state_name(info_.state());
  if (elapsed_s > 0.0) {
    head += fmt::format("  {} s", std::lround(std::floor(elapsed_s)));
  }
  const int recordings = info_.session_ids_size();
  lines.push_back(fmt::format("{}  {}, {} {}", head, info_.rig_name(), recordings,
                              recordings == 1 ? "recording" : "recordings"));
  const JobProgress& progress = info_.progress();
  if (info_.state() == rigcal::v1::JOB_QUEUED) lines.push_back(format_job_status(info_));
  if (info_.state() == rigcal::v1::JOB_RUNNING) lines.push_back(stage_text(progress));
  if (info_.state() == rigcal::v1::JOB_RUNNING && progress.values_size() > 0) {
    lines.push_back(bar(bar_share_) + ' ' + convergence_text(progress));
    std::vector<std::vector<std::string>> rows = {{"parameter", "value", "change"}};
    for (int k = 0; k < std::min(progress.parameters_size(), progress.values_size()); ++k) {
      const auto index = static_cast<std::size_t>(k);
      const double now = progress.values(k);
      rows.push_back({progress.parameters(k), format_number(now, 6),
                      index < before_.size() ? change_text(before_[index], now) : ""});
    }
    std::istringstream table(format_table(rows, {false, true, true}));
    for (std::string row; std::getline(table, row);) lines.push_back("  " + row);
  }
  const auto rows_max = static_cast<std::size_t>(std::max(size.rows - 1, 1));
  if (lines.size() > rows_max) {
    const std::size_t hidden = lines.size() - rows_max + 1;
    lines.resize(rows_max);
    lines.back() = "  … " + std::to_string(hidden) + " more in a taller window";
  }
  for (std::string& line : lines)
    line = shorten_to_width(proto::escape_for_terminal(line), size.columns);
  return lines;
}

JobInfo follow_job(ServiceClient& client, const std::string& job_id, bool quiet, bool json,
                   const std::atomic<bool>& stop) {
  JobInfo info = client.call(&rigcal::v1::ServiceRequest::mutable_subscribe_job, job_id).job_info();
  Display display(quiet, json);
  display.show(info);
  while (!proto::has_ended(info) && !stop.load() && std::cout.good()) {
    const auto notification = client.wait(kPollPeriod_ms);
    if (!notification || !notification->has_job_update() ||
        notification->job_update().job().job_id() != job_id) {
      display.tick();
      continue;
    }
    info = notification->job_update().job();
    display.show(info);
  }
  if (stop.load()) display.end_line();
  return info;
}

ExitCode print_job_end(const JobInfo& info) {
  if (info.state() == rigcal::v1::JOB_DONE) return kDone;
  if (!proto::has_ended(info)) {
    std::cerr << "rigcal: job \"" << info.job_id() << "\" continues; rigcal watch " << info.job_id()
              << " shows its progress again, rigcal cancel " << info.job_id() << " ends it\n";
    return kInterrupted;
  }
  std::cerr << "rigcal: job \"" << info.job_id() << "\" "
            << (info.state() == rigcal::v1::JOB_CANCELLED ? "was cancelled" : "failed")
            << (info.error().empty() ? "" : ": " + proto::escape_for_terminal(info.error()))
            << '\n';
  return info.is_time_over() ? kInterrupted : kServiceTrouble;
}

}  // namespace service
