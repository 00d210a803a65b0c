#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace daq {

/// Calls a function once, on a separate thread, if this object still exists after a given time. For
/// scopes that may wait for a hanging disk.
class SlowNotice {
 public:
  SlowNotice(std::chrono::milliseconds patience, std::function<void()> notice);
  ~SlowNotice();
  SlowNotice(const SlowNotice&) = delete;
  SlowNotice& operator=(const SlowNotice&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace daq
