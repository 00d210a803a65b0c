#include "service/server/jobs/live_fit_process.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <exception>
#include <optional>
#include <span>

#include "proto/framing/frame.hpp"
#include "proto/stream/service_limits.hpp"
#include "service/calibration/live_fit.hpp"
#include "service/server/jobs/job_process.hpp"
#include "service/server/storage/log.hpp"
#include "service/server/storage/session_log.hpp"

namespace service {
namespace {

using Clock = std::chrono::steady_clock;

/// Largest share of a processor that a live fit uses on average, and the time by which it may be
/// ahead of this share: two threads work while the recording is calibrated completely [s].
constexpr double kShare = 0.5;
constexpr double kAhead_s = 2.0;

/// Returns the processor time of all threads of this process.
double used_processor_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Receives the session, and estimates in the pauses.
class LiveFitLoop {
 public:
  /// @return exit status
  int run() {
    for (;;) {
      const bool is_due = fit_ && fit_->is_due();
      if (wait_for_input(!is_due ? -1 : milliseconds_until(earliest_))) {
        if (!receive()) return is_valid_ ? 0 : 1;
      } else if (is_due && Clock::now() >= earliest_) {
        send(fit_->estimate());
        earliest_ =
            start_ + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>((used_processor_s() - kAhead_s) / kShare));
      }
    }
  }

 private:
  static int milliseconds_until(Clock::time_point time) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - Clock::now());
    return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
  }

  static bool wait_for_input(int timeout_ms) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return ::poll(&input, 1, timeout_ms) > 0;
  }

  static void send(rigcal::v1::LiveEstimate estimate) {
    rigcal::v1::StreamReply reply;
    *reply.mutable_live_estimate() = std::move(estimate);
    std::string bytes;
    if (proto::append_frame(reply, proto::stream_reply_limits(), bytes).ok()) {
      send_to_service(bytes);
    }
  }

  /// Returns false at the end of the input, or if it is invalid.
  bool receive() {
    const ssize_t count = ::read(STDIN_FILENO, received_.data(), received_.size());
    if (count <= 0) return false;
    std::vector<proto::Frame> frames;
    const auto fed =
        decoder_.feed(std::span(received_).first(static_cast<std::size_t>(count)), frames);
    is_valid_ = fed.ok();
    for (const proto::Frame& frame : frames) {
      rigcal::v1::StreamRequest request;
      is_valid_ =
          is_valid_ && proto::parse_frame(frame, proto::stream_request_limits(), request).ok();
      if (is_valid_) take(request);
    }
    return is_valid_;
  }

  void take(const rigcal::v1::StreamRequest& request) {
    if (request.has_open_session()) {
      const auto& open = request.open_session();
      const auto names = parse_joint_and_sensor_names(open.metadata());
      try {
        if (names) fit_.emplace(open.live(), *names);
      } catch (const std::exception& error) {  // of an invalid rig file
        rigcal::v1::LiveEstimate estimate;
        estimate.set_problem(error.what());
        send(std::move(estimate));
      }
    } else if (fit_) {
      fit_->add(request.sample_batch());
    }
  }

  std::optional<LiveFit> fit_;
  proto::FrameDecoder decoder_{proto::stream_request_limits()};
  std::array<std::uint8_t, 64 << 10> received_;
  bool is_valid_ = true;
  Clock::time_point start_ = Clock::now();
  Clock::time_point earliest_ = start_;  // time of the next estimate
};

}  // namespace

int run_live_fit_process(const std::vector<std::string>& arguments) {
  constexpr std::size_t kArgumentCount = 3;
  double parent = 0.0, memory_bytes_max = 0.0, duration_s_max = 0.0;
  if (arguments.size() != kArgumentCount || !parse_job_number(arguments[0], parent) ||
      !parse_job_number(arguments[1], memory_bytes_max) ||
      !parse_job_number(arguments[2], duration_s_max) ||
      !end_with_service(static_cast<pid_t>(parent))) {
    log_event(LogLevel::kError, "run_live_fit_misused",
              {{"hint", "run-live-fit is started by rigcald itself"}});
    return 2;
  }
  limit_job_resources(static_cast<rlim_t>(memory_bytes_max), duration_s_max);
  ::signal(SIGINT, SIG_IGN);  // the service handles Ctrl-C of a terminal
  return LiveFitLoop().run();
}

}  // namespace service
