#include "daq/console/slow_notice.hpp"

namespace daq {

SlowNotice::SlowNotice(std::chrono::milliseconds patience, std::function<void()> notice)
    : thread_([this, patience, notice] {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, patience, [this] { return over_; })) notice();
      }) {}

SlowNotice::~SlowNotice() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

}  // namespace daq
