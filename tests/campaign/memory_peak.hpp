#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>

namespace campaign {

/// The most memory that was resident, of a service over its lives and of its workers, as the kernel
/// counts it for each process (VmHWM).
class MemoryPeak {
 public:
  /// Looks at the service, whose own peak the kernel remembers, and at its workers, who come and
  /// go. Any thread.
  void look(pid_t service);

  double service_mb() const;
  double worker_mb() const;

 private:
  mutable std::mutex mutex_;
  std::uint64_t service_kib_ = 0;
  std::uint64_t worker_kib_ = 0;
};

}  // namespace campaign
