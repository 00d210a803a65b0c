#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace service {

using Task = std::function<void()>;

/// Function that passes a task to another thread. Tasks run in the order of the calls and must not
/// throw.
using Poster = std::function<void(Task)>;

/// Function that passes a task to other threads on behalf of an owner, given by the name of an
/// Identity. Tasks of one owner run in the order of the calls. Owners take turns, so an owner waits
/// for at most one task of each other owner.
using OwnedPoster = std::function<void(const std::string& owner, Task)>;

/// Threads that run the tasks of each owner in order, one at a time per owner, and take turns among
/// owners. The caller limits how many tasks may wait.
class TaskThreads {
 public:
  /// @param count  number of threads; with two, one owner's long task delays no other owner
  /// @param nice   increment of the threads' nice value, ≥ 0
  TaskThreads(int count, int nice);
  /// Runs all waiting tasks, then ends the threads.
  ~TaskThreads();
  TaskThreads(const TaskThreads&) = delete;
  TaskThreads& operator=(const TaskThreads&) = delete;

  void post(const std::string& owner, Task task);

 private:
  struct OwnerQueue {
    std::string owner;
    std::deque<Task> tasks;
    bool under_way = false;  // one of its tasks is running
  };

  void run(int nice);
  std::list<OwnerQueue>::iterator next();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::list<OwnerQueue> queues_;  // next turn first; a line without tasks has one running
  bool ending_ = false;
  std::vector<std::thread> threads_;  // last: they use the other members
};

}  // namespace service
