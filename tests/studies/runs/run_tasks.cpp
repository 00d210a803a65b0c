#include "tests/studies/runs/run_tasks.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <unordered_set>

namespace service {
namespace {

/// The waiting tasks, shared by the threads.
class Queue {
 public:
  Queue(const std::vector<StudyTask>& tasks, const RunStore& store, const std::atomic<bool>* stop,
        const std::function<void(const StudyProgress&)>& on_progress)
      : store_(store), stop_(stop), on_progress_(on_progress) {
    progress_.total = static_cast<int>(tasks.size());
    std::unordered_set<std::string> seen;
    for (const StudyTask& task : tasks) {
      if (store.find(task.key) || !seen.insert(task.key).second) {
        ++progress_.kept;
        continue;
      }
      waiting_.push_back(&task);
      work_left_ += task.work;
    }
    // Short runs first, so that problems of a study appear early.
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const StudyTask* a, const StudyTask* b) { return a->work < b->work; });
    progress_.done = progress_.kept;
    on_progress_(progress_);
  }

  std::size_t size() const { return waiting_.size(); }

  void work() {
    while (const StudyTask* task = take()) {
      try {
        const StudyRun run = run_task(*task, stop_);
        if (is_stopped()) return;
        store_.store(run);
        finish(*task);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!fault_) fault_ = std::current_exception();
        return;
      }
    }
  }

  void rethrow() const {
    if (fault_) std::rethrow_exception(fault_);
  }

  bool is_stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }

 private:
  const StudyTask* take() {
    const std::lock_guard lock(mutex_);
    if (is_stopped() || fault_ || next_ == waiting_.size()) return nullptr;
    return waiting_[next_++];
  }

  void finish(const StudyTask& task) {
    const std::lock_guard lock(mutex_);
    ++progress_.done;
    work_done_ += task.work;
    work_left_ -= task.work;
    const double elapsed =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    progress_.time_left = elapsed / work_done_ * work_left_;
    on_progress_(progress_);
  }

  const RunStore& store_;
  const std::atomic<bool>* stop_;
  const std::function<void(const StudyProgress&)>& on_progress_;
  std::mutex mutex_;
  std::vector<const StudyTask*> waiting_;
  std::size_t next_ = 0;
  double work_done_ = 0.0;
  double work_left_ = 0.0;
  StudyProgress progress_;
  std::exception_ptr fault_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

std::vector<StudyRun> run_tasks(const std::vector<StudyTask>& tasks, const RunStore& store,
                                int jobs, const std::atomic<bool>* stop,
                                const std::function<void(const StudyProgress&)>& on_progress) {
  Queue queue(tasks, store, stop, on_progress);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::min(queue.size(), static_cast<std::size_t>(jobs)); ++i) {
      threads.emplace_back([&queue] { queue.work(); });
    }
  }
  queue.rethrow();
  std::vector<StudyRun> runs;
  if (queue.is_stopped()) return runs;
  for (const StudyTask& task : tasks) {
    runs.push_back(store.find(task.key).value());
    // A stored run may serve two places: sweeps overlap where their settings agree.
    runs.back().place = task.place;
  }
  return runs;
}

}  // namespace service
