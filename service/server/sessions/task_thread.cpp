#include "service/server/sessions/task_thread.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace service {

TaskThreads::TaskThreads(int count, int nice) {
  for (int k = 0; k < count; ++k) threads_.emplace_back([this, nice] { run(nice); });
}

TaskThreads::~TaskThreads() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void TaskThreads::post(const std::string& owner, Task task) {
  {
    const std::lock_guard lock(mutex_);
    auto line = std::ranges::find(queues_, owner, &OwnerQueue::owner);
    if (line == queues_.end()) line = queues_.insert(queues_.end(), OwnerQueue{owner, {}});
    line->tasks.push_back(std::move(task));
  }
  wake_.notify_one();
}

std::list<TaskThreads::OwnerQueue>::iterator TaskThreads::next() {
  return std::find_if(queues_.begin(), queues_.end(), [](const OwnerQueue& line) {
    return !line.under_way && !line.tasks.empty();
  });
}

void TaskThreads::run(int nice) {
  // On Linux the nice value belongs to the thread.
  if (nice > 0) ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nice);
  std::unique_lock lock(mutex_);
  while (true) {
    auto line = next();
    if (line == queues_.end()) {
      if (ending_ && queues_.empty()) return;
      wake_.wait(lock);
      continue;
    }
    queues_.splice(queues_.end(), queues_, line);  // this task ends its turn
    line->under_way = true;
    Task task = std::move(line->tasks.front());
    line->tasks.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // its captures may post tasks when destroyed
    lock.lock();
    line->under_way = false;
    if (line->tasks.empty()) queues_.erase(line);
    // Other threads may have found only this line, or wait for the end.
    wake_.notify_all();
  }
}

}  // namespace service
