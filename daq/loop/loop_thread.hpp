#pragma once

#include <atomic>
#include <thread>

#include "daq/loop/control_loop.hpp"
#include "daq/realtime/rt_thread.hpp"

namespace daq {

/// Runs a control loop on its own thread. The thread is stopped and joined even if the caller
/// throws.
class LoopThread {
 public:
  /// @param stop  stop flag of the loop; others may set it too
  LoopThread(ControlLoop& loop, const RealTimeSettings& settings, std::atomic<bool>& stop)
      : stop_(stop), thread_([this, &loop, settings] {
          report_ = enter_real_time(settings);
          ready_.store(true, std::memory_order_release);
          ready_.notify_one();
          loop.run(stop_);
          was_stopped_ = stop_.load();
          ended_.store(true, std::memory_order_release);
        }) {
    ready_.wait(false, std::memory_order_acquire);
  }
  ~LoopThread() { join(); }

  void stop() { stop_.store(true, std::memory_order_relaxed); }
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  void join() {
    stop();
    if (thread_.joinable()) thread_.join();
  }
  const RealTimeReport& report() const { return report_; }
  /// Returns whether a stop was requested. To be called after the loop has ended.
  bool was_stopped() const { return was_stopped_; }

 private:
  std::atomic<bool>& stop_;
  std::atomic<bool> ready_{false};
  std::atomic<bool> ended_{false};
  RealTimeReport report_;
  bool was_stopped_ = false;
  std::thread thread_;
};

}  // namespace daq
