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

/// Hands a task to another thread, in order. Tasks do not throw.
using Poster = std::function<void(Task)>;

/// The same on behalf of somebody, by name (Identity): tasks of one owner are done in order, and
/// owners take turns, so that however much one has posted, another waits for one task of it.
using OwnedPoster = std::function<void(const std::string& owner, Task)>;

/// Threads that do tasks by owner: those of one in order and one at a time, those of several in
/// turns. Whoever posts bounds how many wait.
class TaskThreads {
 public:
  /// @param count  threads; with two, one owner's long task holds nobody else up
  /// @param nice   added to the threads' nice value, ≥ 0
  TaskThreads(int count, int nice);
  /// Does what was posted, then ends.
  ~TaskThreads();
  TaskThreads(const TaskThreads&) = delete;
  TaskThreads& operator=(const TaskThreads&) = delete;

  void post(const std::string& owner, Task task);

 private:
  struct Line {
    std::string owner;
    std::deque<Task> tasks;
    bool under_way = false;  // one of it
  };

  void run(int nice);
  std::list<Line>::iterator next();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::list<Line> lines_;  // whose turn is next first; one without tasks has one under way
  bool ending_ = false;
  std::vector<std::thread> threads_;  // last: they use the others
};

}  // namespace service
