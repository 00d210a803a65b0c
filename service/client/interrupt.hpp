#pragma once

#include <atomic>

namespace service {

/// During its lifetime the first Ctrl-C sets a flag; the second ends the program as usual. Only one
/// instance may exist at a time.
class InterruptFlag {
 public:
  InterruptFlag();
  ~InterruptFlag();
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;

  const std::atomic<bool>& flag() const;
};

}  // namespace service
