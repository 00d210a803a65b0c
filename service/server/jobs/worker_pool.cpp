#include "service/server/jobs/worker_pool.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <cstring>
#include <utility>

#include "proto/framing/frame.hpp"
#include "service/server/jobs/cluster_job.hpp"
#include "service/server/jobs/spawn_worker.hpp"

namespace service {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// Describes the end of a worker process that sent no reason itself.
std::string describe_end(int status) {
  const std::string report = "; report it with the rig file and the log of the service";
  if (WIFEXITED(status)) {
    return "the calibration ended with status " + std::to_string(WEXITSTATUS(status)) +
           " without a message, which is an error of rigcal" + report;
  }
  const int number = WTERMSIG(status);
  const std::string signal = std::string(" (signal \"") + ::strsignal(number) + "\")";
  switch (number) {
    case SIGKILL:
      return "the system ended the calibration" + signal +
             ", probably because its memory was used up; use a shorter part of the recordings, or "
             "give the service more memory";
    case SIGXCPU:
      return "the calibration used more processor time than the limit of one job" + signal +
             "; use a shorter part of the recordings, or raise job_duration_s in the settings of "
             "the service";
    case SIGHUP:
    case SIGINT:
    case SIGQUIT:
    case SIGTERM:
      return "the calibration was ended from outside the service" + signal +
             "; submit the job again under another id";
    default:
      return "the calibration crashed" + signal +
             ", because it exceeded its memory limit or because of an error of rigcal; use a "
             "shorter part of the recordings" +
             report;
  }
}

}  // namespace

class WorkerPool::WorkerProcess : public std::enable_shared_from_this<WorkerProcess> {
 public:
  WorkerProcess(asio::io_context& io, pid_t pid, int progress_descriptor,
                std::function<void(const rigcal::v1::JobProgress&)> on_progress,
                std::function<void(const JobEnd&)> on_ended)
      : pid_(pid),
        pipe_(io, progress_descriptor),
        time_limit_(io),
        grace_(io),
        decoder_(worker_message_limits()),
        on_progress_(std::move(on_progress)),
        on_ended_(std::move(on_ended)) {}

  void start() { read(); }

  void limit_time(double duration_s_max, std::chrono::milliseconds grace) {
    time_limit_.expires_after(std::chrono::duration_cast<asio::steady_timer::duration>(
        std::chrono::duration<double>(duration_s_max)));
    time_limit_.async_wait([self = shared_from_this(), grace](const asio::error_code& error) {
      if (error) return;
      self->is_time_over_ = true;
      self->stop(SIGALRM, grace);
    });
  }

  /// Sends a signal, and SIGKILL if the process has not ended after a time.
  void stop(int signal, std::chrono::milliseconds grace) {
    if (exited_) return;
    ::kill(pid_, signal);
    grace_.expires_after(grace);
    grace_.async_wait([self = shared_from_this()](const asio::error_code& error) {
      if (!error && !self->exited_) ::kill(self->pid_, SIGKILL);
    });
  }

  void kill() {
    if (!exited_) ::kill(pid_, SIGKILL);
  }

  void kill_now() {
    if (exited_) return;
    kill();
    ::waitpid(pid_, nullptr, 0);
    exited_ = true;
  }

  /// Checks whether the worker process has ended. Returns true at the first call after the end,
  /// else false.
  bool reap() {
    int status = 0;
    rusage used{};
    if (exited_ || ::wait4(pid_, &status, WNOHANG, &used) != pid_) return false;
    processor_s_ = seconds(used.ru_utime) + seconds(used.ru_stime);
    exited_ = true;
    done_ = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == kTimeOverStatus) is_time_over_ = true;
    if (!done_ && error_.empty()) end_text_ = describe_end(status);
    time_limit_.cancel();
    grace_.cancel();
    return true;
  }

  /// Returns whether the process has ended and its pipe was read to the end. The last message in
  /// the pipe is the error.
  bool complete() const { return exited_ && !pipe_.is_open(); }

  void report() {
    on_ended_({done_, error_.empty() ? end_text_ : error_, processor_s_ + cluster_processor_s_,
               is_time_over_ && !done_});
  }

  std::function<void()> on_complete;

 private:
  void read() {
    pipe_.async_read_some(
        asio::buffer(input_),
        [self = shared_from_this()](const asio::error_code& error, std::size_t count) {
          if (!error) self->on_bytes_received(count);
          if (!error && self->pipe_.is_open()) return self->read();
          asio::error_code ignored;
          self->pipe_.close(ignored);
          self->on_complete();
        });
  }

  void on_bytes_received(std::size_t count) {
    std::vector<proto::Frame> frames;
    const proto::Status fed = decoder_.feed(std::span(input_).first(count), frames);
    for (const proto::Frame& frame : frames) {
      const auto message = parse_worker_message(frame);
      if (message.progress) {
        cluster_processor_s_ = message.progress->processor_s();
        on_progress_(*message.progress);
      }
      if (!message.error.empty() && error_.empty()) error_ = message.error;
    }
    asio::error_code ignored;
    if (!fed.ok()) pipe_.close(ignored);
  }

  pid_t pid_;
  asio::posix::stream_descriptor pipe_;
  asio::steady_timer time_limit_;
  asio::steady_timer grace_;
  proto::FrameDecoder decoder_;
  std::array<std::uint8_t, 16 << 10> input_;
  std::function<void(const rigcal::v1::JobProgress&)> on_progress_;
  std::function<void(const JobEnd&)> on_ended_;
  bool exited_ = false;
  bool done_ = false;
  double processor_s_ = 0.0;
  double cluster_processor_s_ = 0.0;
  bool is_time_over_ = false;
  std::string error_;     // from the worker
  std::string end_text_;  // how the process ended
};

WorkerPool::WorkerPool(asio::io_context& io, std::string program, std::uint64_t memory_bytes_max)
    : io_(io),
      program_(std::move(program)),
      memory_bytes_max_(memory_bytes_max),
      child_ended_(io, SIGCHLD) {
  wait_for_children();
}

WorkerPool::~WorkerPool() {
  for (const auto& [id, worker] : workers_) worker->kill_now();
}

void WorkerPool::wait_for_children() {
  child_ended_.async_wait([this](const asio::error_code& error, int) {
    if (error) return;
    reap();
    wait_for_children();
  });
}

void WorkerPool::reap() {
  std::vector<std::shared_ptr<WorkerProcess>> ended;
  for (auto entry = workers_.begin(); entry != workers_.end();) {
    entry->second->reap();
    if (entry->second->complete()) {
      ended.push_back(entry->second);
      entry = workers_.erase(entry);
    } else {
      ++entry;
    }
  }
  for (const auto& worker : ended) worker->report();
}

void WorkerPool::start(const std::string& job_id, const std::string& folder,
                       const std::vector<std::string>& recording_paths, double duration_s_max,
                       std::function<void(const rigcal::v1::JobProgress&)> on_progress,
                       std::function<void(const JobEnd&)> on_ended) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return on_ended({false, std::string("cannot start a worker: ") + std::strerror(errno)});
  }
  std::vector<std::string> words = {program_,
                                    cluster_.empty() ? "run-job" : "run-cluster-job",
                                    folder,
                                    std::to_string(::getpid()),
                                    std::to_string(memory_bytes_max_),
                                    std::to_string(duration_s_max)};
  if (!cluster_.empty()) words.push_back(cluster_);
  words.insert(words.end(), recording_paths.begin(), recording_paths.end());
  const auto pid = spawn_worker(std::move(words), {{ends[1], kProgressDescriptor}});
  ::close(ends[1]);
  if (!pid.ok()) {
    ::close(ends[0]);
    return on_ended({false, pid.error().detail});
  }
  auto worker = std::make_shared<WorkerProcess>(io_, pid.value(), ends[0], std::move(on_progress),
                                                std::move(on_ended));
  worker->on_complete = [this] { reap(); };
  workers_[job_id] = worker;
  worker->start();
  // On a cluster, the time limit begins when the task starts, which is known there.
  if (cluster_.empty()) worker->limit_time(duration_s_max, time_limit_grace_);
}

void WorkerPool::stop(const std::string& job_id) {
  if (const auto found = workers_.find(job_id); found != workers_.end())
    found->second->stop(SIGTERM, grace_);
}

void WorkerPool::interrupt(const std::string& job_id) {
  if (cluster_.empty()) return stop(job_id);
  if (const auto found = workers_.find(job_id); found != workers_.end()) found->second->kill();
}

void WorkerPool::set_cluster(const std::string& settings) {
  constexpr std::chrono::minutes kCancelTime(5);  // for a controller that answers late
  cluster_ = settings;
  grace_ = kCancelTime;
}

}  // namespace service
