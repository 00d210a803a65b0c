#include "service/cli/remote/job_follower.hpp"

#include <google/protobuf/util/json_util.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>

#include "proto/stream/service_limits.hpp"
#include "proto/text/command_line/standard_streams.hpp"
#include "proto/text/printable.hpp"
#include "service/cli/remote/job_display.hpp"

namespace service {
namespace {

using rigcal::v1::JobInfo;

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
      picture_.update(info);
      return redraw();
    }
    const std::string status = job_stage(info);
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

JobInfo follow_job(ServiceClient& client, const std::string& job_id, bool quiet, bool json,
                   const std::atomic<bool>& stop) {
  rigcal::v1::ServiceRequest request;
  request.mutable_subscribe_job()->set_job_id(job_id);
  JobInfo info = client.call(request).job_info();
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

ExitCode report_end(const JobInfo& info) {
  if (info.state() == rigcal::v1::JOB_DONE) return kDone;
  if (!proto::has_ended(info)) {
    std::cerr << "rigcal: job \"" << info.job_id() << "\" continues; rigcal watch " << info.job_id()
              << " follows it again, rigcal cancel " << info.job_id() << " ends it\n";
    return kInterrupted;
  }
  std::cerr << "rigcal: job \"" << info.job_id() << "\" "
            << (info.state() == rigcal::v1::JOB_CANCELLED ? "was cancelled" : "failed")
            << (info.error().empty() ? "" : ": " + proto::escape_for_terminal(info.error()))
            << '\n';
  return kServiceTrouble;
}

}  // namespace service
