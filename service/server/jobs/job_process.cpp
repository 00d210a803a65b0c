#include "service/server/jobs/job_process.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include "service/server/jobs/run_job.hpp"
#include "service/server/jobs/worker_messages.hpp"
#include "service/server/storage/log.hpp"

namespace service {
namespace {

constexpr int kNice = 10;
constexpr rlim_t kGrace_s = kTimeLimitGrace_s + 10;
constexpr double kDurationMax = 1e7;         // [s]
constexpr rlim_t kFileSizeMax = 256u << 20;  // per output file [byte]
constexpr const char* kOutOfMemory =
    "out of memory: the calibration needs more than the limit of one job; use a shorter part of "
    "the recordings, or raise job_memory_bytes in the settings of the service";

std::atomic<bool> stop_asked{false}, time_is_over{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait");

void on_stop_signal(int signal) {
  if (signal == SIGALRM) time_is_over.store(true);
  stop_asked.store(true);
}

// Prepared before the job starts, because no memory may be left when it is needed.
const std::string& out_of_memory_frame() {
  static const std::string frame = make_error_frame(kOutOfMemory);
  return frame;
}

// The stack of a thread counts as memory, too.
bool is_out_of_memory() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return true;
  } catch (const std::system_error& error) {
    return error.code() == std::errc::resource_unavailable_try_again;
  } catch (...) {
    return false;
  }
}

// Called for exceptions that no handler receives, such as those of another thread.
[[noreturn]] void on_terminate() {
  if (std::current_exception()) report_job_exception();
  std::abort();
}

}  // namespace

JobFlags handle_job_signals() {
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGALRM, &action, nullptr);
  ::signal(SIGINT, SIG_IGN);
  return {&stop_asked, &time_is_over};
}

void limit_job_resources(rlim_t memory_bytes_max, double duration_s_max) {
  ::setpriority(PRIO_PROCESS, 0, kNice);
  const sched_param none{};
  ::sched_setscheduler(0, SCHED_BATCH, &none);
  const rlimit memory{memory_bytes_max, memory_bytes_max};
#ifndef RIG_SANITIZED
  if (memory_bytes_max > 0) ::setrlimit(RLIMIT_AS, &memory);
#else
  static_cast<void>(memory);  // the sanitizers reserve far more than they use
#endif
  // Normally the service enforces the time limit; this limit acts if the service itself is stuck.
  const auto seconds = static_cast<rlim_t>(std::min(duration_s_max, kDurationMax)) + kGrace_s;
  const rlimit processor{seconds, seconds + kGrace_s};  // SIGXCPU, then SIGKILL
  ::setrlimit(RLIMIT_CPU, &processor);
  const rlimit file{kFileSizeMax, kFileSizeMax};
  ::setrlimit(RLIMIT_FSIZE, &file);
}

bool end_with_service(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return ::getppid() == parent;  // else the parent died before prctl
}

std::string describe_job_exception() {
  if (is_out_of_memory()) return kOutOfMemory;
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "the calibration ended with an unknown exception, which is an error of rigcal; report "
           "it with the rig file and the recordings";
  }
}

void report_job_exception() {
  send_to_service(is_out_of_memory() ? out_of_memory_frame()
                                     : make_error_frame(describe_job_exception()));
}

// The pipe buffers many messages.
void send_to_service(const std::string& frame) {
  std::size_t done = 0;
  while (done < frame.size()) {
    const ssize_t count = ::write(kProgressDescriptor, frame.data() + done, frame.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    done += static_cast<std::size_t>(count);
  }
}

bool parse_job_number(const std::string& text, double& number) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && number >= 0.0;
}

int run_job_process(const std::vector<std::string>& arguments, const std::string& version) {
  out_of_memory_frame();
  std::set_terminate(on_terminate);
  constexpr std::size_t kFixedCount = 4;
  double parent = 0.0, memory_bytes_max = 0.0, duration_s_max = 0.0;
  if (arguments.size() <= kFixedCount || !parse_job_number(arguments[1], parent) ||
      !parse_job_number(arguments[2], memory_bytes_max) ||
      !parse_job_number(arguments[3], duration_s_max) ||
      !end_with_service(static_cast<pid_t>(parent))) {
    log_event(LogLevel::kError, "run_job_misused",
              {{"hint", "run-job is started by rigcald itself"}});
    return 2;
  }
  limit_job_resources(static_cast<rlim_t>(memory_bytes_max), duration_s_max);
  const JobFlags flags = handle_job_signals();
  const JobRun run{.folder = arguments[0],
                   .recording_paths = {arguments.begin() + kFixedCount, arguments.end()},
                   .version = version,
                   .duration_s_max = duration_s_max,
                   .on_progress =
                       [](const rigcal::v1::JobProgress& progress) {
                         send_to_service(make_progress_frame(progress));
                       },
                   .stop = flags.stop,
                   .is_time_over = flags.is_time_over};
  try {
    if (run_job(run)) return 0;
    send_to_service(
        make_error_frame("the calibration was ended from outside the service by SIGTERM; "
                         "submit the job again under another id"));
  } catch (...) {
    report_job_exception();
  }
  return 1;
}

}  // namespace service
