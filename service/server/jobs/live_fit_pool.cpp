#include "service/server/jobs/live_fit_pool.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <asio/buffer.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/write.hpp>
#include <cerrno>
#include <cstring>
#include <deque>
#include <numeric>
#include <utility>

#include "proto/framing/frame.hpp"
#include "proto/stream/service_limits.hpp"
#include "service/calibration/live_fit.hpp"
#include "service/messages/live_text.hpp"
#include "service/server/jobs/spawn_worker.hpp"
#include "service/server/jobs/worker_messages.hpp"
#include "service/server/storage/log.hpp"

namespace service {
namespace {

/// Data that the process has not read yet [byte], about a minute of samples. A process that is
/// farther behind is of no use.
constexpr std::size_t kUnreadMax = 8u << 20;

std::string frame_of(const rigcal::v1::StreamRequest& request) {
  std::string bytes;
  if (!proto::append_frame(request, proto::stream_request_limits(), bytes).ok()) bytes.clear();
  return bytes;
}

}  // namespace

/// The process of one live fit, and the pipes to it.
class LiveFitPool::FitProcess : public std::enable_shared_from_this<FitProcess> {
 public:
  FitProcess(asio::io_context& io, pid_t pid, int input, int output, OnEstimate on_estimate)
      : pid_(pid),
        input_(io, input),
        output_(io, output),
        decoder_(proto::stream_reply_limits()),
        on_estimate_(std::move(on_estimate)) {}

  void start(std::string first_frame) {
    read();
    send(std::move(first_frame));
  }

  std::size_t unread_bytes() const { return unread_bytes_; }

  void send(std::string frame) {
    if (frame.empty() || !input_.is_open()) return;
    unread_bytes_ += frame.size();
    queue_.push_back(std::move(frame));
    if (unread_bytes_ > kUnreadMax) return fail(LiveProblem::kTooSlow);
    if (queue_.size() == 1) write();
  }

  /// Kills the process. No estimate follows.
  void end() {
    on_estimate_ = {};
    asio::error_code ignored;
    input_.close(ignored);
    output_.close(ignored);
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

 private:
  void fail(LiveProblem reason) {
    const std::string problem = describe_live_problem(reason);
    log_event(LogLevel::kWarning, "live_fit_ended", {{"reason", problem}});
    const OnEstimate report = on_estimate_;
    end();
    rigcal::v1::LiveEstimate estimate;
    estimate.set_problem(problem);
    if (report) report(estimate);
  }

  void write() {
    asio::async_write(input_, asio::buffer(queue_.front()),
                      [self = shared_from_this()](const asio::error_code& error, std::size_t) {
                        if (error) return;  // reading reports the end of the process
                        self->unread_bytes_ -= self->queue_.front().size();
                        self->queue_.pop_front();
                        if (!self->queue_.empty()) self->write();
                      });
  }

  void read() {
    output_.async_read_some(
        asio::buffer(received_),
        [self = shared_from_this()](const asio::error_code& error, std::size_t count) {
          if (!self->output_.is_open()) return;
          if (error || !self->take_frames(count)) {
            return self->fail(LiveProblem::kEndedEarly);
          }
          if (self->output_.is_open()) self->read();
        });
  }

  bool take_frames(std::size_t count) {
    std::vector<proto::Frame> frames;
    const proto::Status fed = decoder_.feed(std::span(received_).first(count), frames);
    for (const proto::Frame& frame : frames) {
      rigcal::v1::StreamReply reply;
      if (!proto::parse_frame(frame, proto::stream_reply_limits(), reply).ok()) return false;
      if (reply.has_live_estimate() && on_estimate_) on_estimate_(reply.live_estimate());
    }
    return fed.ok();
  }

  pid_t pid_;
  asio::posix::stream_descriptor input_, output_;
  proto::FrameDecoder decoder_;
  std::array<std::uint8_t, 16 << 10> received_;
  std::deque<std::string> queue_;
  std::size_t unread_bytes_ = 0;
  OnEstimate on_estimate_;
};

class LiveFitPool::RunHandle final : public LiveFitRun {
 public:
  RunHandle(std::string owner, std::shared_ptr<CountByOwner> running,
            std::shared_ptr<FitProcess> process)
      : owner_(std::move(owner)), running_(std::move(running)), process_(std::move(process)) {
    ++(*running_)[owner_];
  }
  ~RunHandle() override {
    process_->end();
    if (--(*running_)[owner_] == 0) running_->erase(owner_);
  }
  RunHandle(const RunHandle&) = delete;
  RunHandle& operator=(const RunHandle&) = delete;

  void add(const std::string& batch) override {
    rigcal::v1::StreamRequest request;
    if (request.mutable_sample_batch()->ParseFromString(batch)) process_->send(frame_of(request));
  }
  std::size_t unread_bytes() const override { return process_->unread_bytes(); }

 private:
  std::string owner_;
  std::shared_ptr<CountByOwner> running_;
  std::shared_ptr<FitProcess> process_;
};

std::string LiveFitPool::find_limit(const std::string& owner) const {
  const std::uint32_t limit = context_.limits.live_fits;
  if (limit == 0) return describe_live_problem(LiveProblem::kSwitchedOff);
  const auto own = running_->find(owner);
  const std::uint32_t running =
      std::accumulate(running_->begin(), running_->end(), 0u,
                      [](std::uint32_t sum, const auto& each) { return sum + each.second; });
  if (running >= limit ||
      (own != running_->end() && own->second >= context_.limits.limits_per_identity().live_fits)) {
    return describe_live_limit(running);
  }
  return "";
}

std::variant<std::unique_ptr<LiveFitRun>, std::string> LiveFitPool::start(
    const std::string& owner, const rigcal::v1::OpenSession& request, OnEstimate on_estimate) {
  if (std::string limit = find_limit(owner); !limit.empty()) return limit;
  std::array<int, 2> input{}, output{};
  const auto failed = [](int error) { return describe_live_start_error(std::strerror(error)); };
  if (::pipe2(input.data(), O_CLOEXEC) != 0) return failed(errno);
  if (::pipe2(output.data(), O_CLOEXEC) != 0) {
    const int error = errno;
    for (const int end : input) ::close(end);
    return failed(error);
  }
  const auto pid = spawn_worker({program_, "run-live-fit", std::to_string(::getpid()),
                                 std::to_string(context_.limits.job_memory_bytes),
                                 std::to_string(context_.limits.job_duration_s)},
                                {{input[0], STDIN_FILENO}, {output[1], kProgressDescriptor}});
  ::close(input[0]);
  ::close(output[1]);
  if (!pid.ok()) {
    ::close(input[1]);
    ::close(output[0]);
    return pid.error().detail;
  }
  auto process =
      std::make_shared<FitProcess>(io_, pid.value(), input[1], output[0], std::move(on_estimate));
  rigcal::v1::StreamRequest first;
  *first.mutable_open_session() = request;
  first.mutable_open_session()->clear_secret();
  process->start(frame_of(first));
  return std::make_unique<RunHandle>(owner, running_, std::move(process));
}

void LiveFitPool::check(const std::string& owner, const rigcal::v1::CheckLive& request,
                        OnChecked on_checked) {
  if (const std::string limit = find_limit(owner); !limit.empty()) return on_checked(limit);
  context_.reader(owner, [request, on_checked = std::move(on_checked), main = context_.main] {
    main([on_checked, problem = find_live_problem(request)] { on_checked(problem); });
  });
}

}  // namespace service
