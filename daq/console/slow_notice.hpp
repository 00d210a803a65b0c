#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace daq {

/// Calls a function once, on a separate thread, if this object still exists after a given time.
/// Used around operations that may wait for a hanging disk, to inform the operator.
class DelayedNotice {
 public:
  DelayedNotice(std::chrono::milliseconds patience, std::function<void()> notice)
      : thread_([patience, notice = std::move(notice)](const std::stop_token& over) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any().wait_for(lock, over, patience, [] { return false; });
          if (!over.stop_requested()) notice();
        }) {}

 private:
  std::jthread thread_;
};

}  // namespace daq
