#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <exception>
#include <new>

#include "service/server/jobs/run_job.hpp"
#include "service/server/jobs/worker_messages.hpp"
#include "service/server/storage/log.hpp"

namespace service {
namespace {

constexpr int kNice = 10;
constexpr rlim_t kGrace_s = 10;
constexpr double kDurationMax = 1e7;         // [s]
constexpr rlim_t kFileSizeMax = 256u << 20;  // per output file [byte]

std::atomic<bool> stop_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait");

void on_terminate(int) { stop_asked.store(true); }

template <typename Number>
bool parse(const std::string& text, Number& out) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, out);
  return read.ec == std::errc() && read.ptr == end && out >= 0;
}

// Blocks while the service is busy; the pipe buffers many messages.
void write_all(const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(kProgressDescriptor, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    done += static_cast<std::size_t>(count);
  }
}

// Limits the process's use of resources. The job runs even if the kernel refuses these calls.
bool limit_resources(pid_t parent, rlim_t memory_bytes_max, double duration_s_max) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return false;  // the parent died before prctl
  ::setpriority(PRIO_PROCESS, 0, kNice);
  const sched_param none{};
  ::sched_setscheduler(0, SCHED_BATCH, &none);
  const rlimit memory{memory_bytes_max, memory_bytes_max};
#ifndef RIG_SANITIZED
  if (memory_bytes_max > 0) ::setrlimit(RLIMIT_AS, &memory);
#else
  static_cast<void>(memory);  // the sanitizers reserve far more than they use
#endif
  // Normally the service enforces the deadline; this limit acts if the service itself is stuck.
  const auto seconds = static_cast<rlim_t>(std::min(duration_s_max, kDurationMax)) + kGrace_s;
  const rlimit processor{seconds, seconds};
  ::setrlimit(RLIMIT_CPU, &processor);
  const rlimit file{kFileSizeMax, kFileSizeMax};
  ::setrlimit(RLIMIT_FSIZE, &file);
  struct sigaction action {};
  action.sa_handler = on_terminate;
  ::sigaction(SIGTERM, &action, nullptr);
  ::signal(SIGINT, SIG_IGN);  // the service handles Ctrl-C of a terminal
  return true;
}

}  // namespace

int run_job_process(const std::vector<std::string>& arguments, const std::string& version) {
  constexpr std::size_t kFixedCount = 4;
  pid_t parent = 0;
  rlim_t memory_bytes_max = 0;
  double duration_s_max = 0.0;
  if (arguments.size() <= kFixedCount || !parse(arguments[1], parent) ||
      !parse(arguments[2], memory_bytes_max) || !parse(arguments[3], duration_s_max) ||
      !limit_resources(parent, memory_bytes_max, duration_s_max)) {
    log_event(LogLevel::kError, "run_job_misused",
              {{"hint", "run-job is started by rigcald itself"}});
    return 2;
  }
  JobRun run{
      .folder = arguments[0],
      .recording_paths = {arguments.begin() + kFixedCount, arguments.end()},
      .version = version,
      .duration_s_max = duration_s_max,
      .on_progress =
          [](const rigcal::v1::JobProgress& progress) { write_all(make_progress_frame(progress)); },
      .stop = &stop_asked};
  try {
    if (run_job(run)) return 0;
    write_all(make_error_frame("stopped"));
  } catch (const std::bad_alloc&) {
    write_all(make_error_frame("out of memory; use a shorter part of the recordings"));
  } catch (const std::exception& error) {
    write_all(make_error_frame(error.what()));
  }
  return 1;
}

}  // namespace service
