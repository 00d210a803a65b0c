#pragma once

#include <atomic>

namespace service {

/// Flag that the first Ctrl-C during this object's lifetime sets. The second Ctrl-C ends the
/// program as usual. Only one such object may exist at a time.
class InterruptFlag {
 public:
  InterruptFlag();
  ~InterruptFlag();
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;

  const std::atomic<bool>& flag() const;
};

}  // namespace service
