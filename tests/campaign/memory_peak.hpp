#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>

namespace campaign {

/// The largest resident memory of a service over its restarts, and of its workers, as counted by
/// the kernel for each process (VmHWM).
class MemoryPeak {
 public:
  /// Samples the service, whose own peak the kernel remembers, and its short-lived workers. Any
  /// thread.
  void look(pid_t service);

  double service_mb() const;
  double worker_mb() const;

 private:
  mutable std::mutex mutex_;
  std::uint64_t service_kib_ = 0;
  std::uint64_t worker_kib_ = 0;
};

}  // namespace campaign
