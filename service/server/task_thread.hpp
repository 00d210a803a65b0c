#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace service {

using Task = std::function<void()>;

/// Hands a task to another thread, in order. Tasks do not throw.
using Poster = std::function<void(Task)>;

/// One thread that does tasks in order. Whoever posts bounds how many wait.
class TaskThread {
 public:
  /// @param nice  added to the thread's nice value, ≥ 0
  explicit TaskThread(int nice);
  /// Does what was posted, then ends.
  ~TaskThread();
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  void post(Task task);

 private:
  void run(int nice);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  bool ending_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace service
