#include "service/server/task_thread.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace service {

TaskThread::TaskThread(int nice) : thread_([this, nice] { run(nice); }) {}

TaskThread::~TaskThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void TaskThread::post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void TaskThread::run(int nice) {
  // On Linux the nice value belongs to the thread.
  if (nice > 0) ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nice);
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // what it holds may post from its destructor
    lock.lock();
  }
}

}  // namespace service
