#include "daq/realtime/rt_thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <stdexcept>
#include <system_error>

namespace daq {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;  // more than the loop uses
constexpr std::size_t kPageBytes = 4096;

std::string reason(int error) { return std::generic_category().message(error); }

// Writes one byte per page; volatile keeps the compiler from dropping the writes.
void touch_stack() {
  [[maybe_unused]] volatile unsigned char pages[kStackBytes];
  for (std::size_t k = 0; k < kStackBytes; k += kPageBytes) pages[k] = 0;
}

void request_priority(int priority, RealTimeReport& report) {
  const sched_param parameters{.sched_priority = priority};
  const int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters);
  report.fifo = error == 0;
  if (report.fifo) return;
  report.refused.push_back(
      "SCHED_FIFO priority " + std::to_string(priority) + " refused (" + reason(error) +
      "): other programs may delay the loop by milliseconds. "
      "Allow it with '@dialout - rtprio 95' in /etc/security/limits.d/rig.conf and log in again.");
}

// With a limit on locked memory, locking future pages would make a later allocation fail. So they
// are locked only without a limit.
void request_locked_memory(RealTimeReport& report) {
  rlimit limit{};
  const bool unlimited =
      geteuid() == 0 || (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY);
  report.memory_locked = mlockall(unlimited ? MCL_CURRENT | MCL_FUTURE : MCL_CURRENT) == 0;
  if (report.memory_locked) return;
  report.refused.push_back(
      "locking memory refused (" + reason(errno) +
      "): a page fault may delay the loop. "
      "Allow it with '@dialout - memlock unlimited' in /etc/security/limits.d/rig.conf and log in "
      "again.");
}

void request_processor(int cpu, RealTimeReport& report) {
  int error = EINVAL;
  if (cpu < CPU_SETSIZE) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(static_cast<std::size_t>(cpu), &only);
    error = pthread_setaffinity_np(pthread_self(), sizeof only, &only);
  }
  report.pinned = error == 0;
  if (report.pinned) return;
  report.refused.push_back(
      "pinning to processor " + std::to_string(cpu) + " refused (" + reason(error) +
      "): the loop may move between processors. Choose a processor that exists.");
}

}  // namespace

RealTimeReport enter_real_time(const RealTimeSettings& settings) {
  if (settings.priority < 0 || settings.priority > 99) {
    throw std::invalid_argument("real-time priority " + std::to_string(settings.priority) +
                                " is outside 0 … 99");
  }
  RealTimeReport report;
  if (settings.cpu >= 0) request_processor(settings.cpu, report);
  if (settings.lock_memory) request_locked_memory(report);
  if (settings.priority > 0) request_priority(settings.priority, report);
  touch_stack();
  return report;
}

}  // namespace daq
