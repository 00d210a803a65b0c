#include <algorithm>
#include <chrono>
#include <mutex>
#include <stdexcept>

#include "estimator/math/parallel_jobs.hpp"
#include "proto/text/input_error.hpp"
#include "service/work/executor.hpp"

namespace service {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class LocalExecutor : public Executor {
 public:
  explicit LocalExecutor(int threads) : threads_(threads) {}

  bool run(const WorkBatch& batch, WorkStore& store, const std::atomic<bool>* stop,
           const WorkProgressFunction& on_progress) override {
    std::vector<const WorkItem*> missing = store.find_missing(batch.items);
    // Short items first, so that problems appear early.
    std::ranges::stable_sort(missing, {}, [](const WorkItem* item) { return item->work; });
    WorkProgress progress{.total = batch.items.size()};
    progress.done = progress.kept = progress.total - missing.size();
    if (on_progress) on_progress(progress);
    double work_done = 0.0, work_left = 0.0;
    for (const WorkItem* item : missing) work_left += item->work;
    const auto is_stopped = [&] {
      return stop != nullptr && stop->load(std::memory_order_relaxed);
    };
    const Clock::time_point start = Clock::now();
    std::mutex mutex;
    estimator::run_parallel_jobs(threads_, missing.size(), [&](std::size_t i) {
      if (is_stopped()) return;
      const WorkResult result = compute_item(batch, *missing[i], stop);
      if (is_stopped()) return;
      store.store(missing[i]->key, result);
      const std::scoped_lock lock(mutex);
      ++progress.done;
      work_done += missing[i]->work;
      work_left -= missing[i]->work;
      progress.time_left = seconds_since(start) / work_done * std::max(work_left, 0.0);
      if (on_progress) on_progress(progress);
    });
    return store.find_missing(batch.items).empty();
  }

 private:
  int threads_;
};

}  // namespace

std::unique_ptr<Executor> make_local_executor(int threads) {
  return std::make_unique<LocalExecutor>(threads);
}

WorkResult compute_item(const WorkBatch& batch, const WorkItem& item,
                        const std::atomic<bool>* stop) {
  WorkResult result;
  const Clock::time_point start = Clock::now();
  try {
    result.value = batch.compute(item, stop);
  } catch (const std::invalid_argument& fault) {
    result.failure = fault.what();
  } catch (const proto::InputError& fault) {
    result.failure = fault.what();
  }
  result.wall_time = seconds_since(start);
  return result;
}

}  // namespace service
