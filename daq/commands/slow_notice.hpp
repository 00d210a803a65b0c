#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace daq {

/// Calls a function once if this object still exists after so long, on a thread of its own: for a
/// scope that may wait for a disk that hangs.
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
