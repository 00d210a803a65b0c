#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <new>

#include "service/server/log.hpp"
#include "service/server/run_job.hpp"
#include "service/server/worker_messages.hpp"

namespace service {
namespace {

constexpr int kProgressDescriptor = 3;
constexpr int kNice = 10;

std::atomic<bool> stop_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait");

void on_terminate(int) { stop_asked.store(true); }

// Blocks while the service is busy; the pipe holds many messages.
void write_all(const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(kProgressDescriptor, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    done += static_cast<std::size_t>(count);
  }
}

// What the kernel is asked for is a courtesy to others: the job runs without it as well.
bool settle_down(pid_t parent, rlim_t memory_bytes_max) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return false;  // it died before the line above
  ::setpriority(PRIO_PROCESS, 0, kNice);
  const sched_param none{};
  ::sched_setscheduler(0, SCHED_BATCH, &none);
  const rlimit memory{memory_bytes_max, memory_bytes_max};
#ifndef RIG_SANITIZED
  if (memory_bytes_max > 0) ::setrlimit(RLIMIT_AS, &memory);
#else
  static_cast<void>(memory);  // the sanitizers reserve far more than they use
#endif
  struct sigaction action {};
  action.sa_handler = on_terminate;
  ::sigaction(SIGTERM, &action, nullptr);
  ::signal(SIGINT, SIG_IGN);  // a terminal's Ctrl-C is the service's business
  return true;
}

}  // namespace

int run_job_process(const std::vector<std::string>& arguments, const std::string& version) {
  constexpr std::size_t kFixedCount = 3;
  if (arguments.size() <= kFixedCount) {
    log_event(LogLevel::kError, "run_job_misused",
              {{"hint", "run-job is started by rigcald itself"}});
    return 2;
  }
  if (!settle_down(std::stoi(arguments[1]), std::stoull(arguments[2]))) return 2;
  JobRun run{
      .folder = arguments[0],
      .recording_paths = {arguments.begin() + kFixedCount, arguments.end()},
      .version = version,
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
