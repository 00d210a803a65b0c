#include "tests/studies/runs/run_tasks.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <unordered_set>

#include "estimator/math/parallel_jobs.hpp"

namespace service {
namespace {

/// Returns the tasks whose runs are not in the store, without duplicate keys.
std::vector<const StudyTask*> missing_tasks(const std::vector<StudyTask>& tasks,
                                            const RunStore& store) {
  std::vector<const StudyTask*> missing;
  std::unordered_set<std::string> seen;
  for (const StudyTask& task : tasks) {
    if (!store.find(task.key) && seen.insert(task.key).second) missing.push_back(&task);
  }
  // Short runs first, so that problems of a study appear early.
  std::ranges::stable_sort(missing, {}, &StudyTask::work);
  return missing;
}

}  // namespace

std::vector<StudyRun> run_tasks(const std::vector<StudyTask>& tasks, const RunStore& store,
                                int jobs, const std::atomic<bool>* stop,
                                const std::function<void(const StudyProgress&)>& on_progress) {
  const std::vector<const StudyTask*> missing = missing_tasks(tasks, store);
  StudyProgress progress{.total = static_cast<int>(tasks.size())};
  progress.done = progress.kept = progress.total - static_cast<int>(missing.size());
  on_progress(progress);
  double work_done = 0.0, work_left = 0.0;
  for (const StudyTask* task : missing) work_left += task->work;
  const auto is_stopped = [&] { return stop != nullptr && stop->load(std::memory_order_relaxed); };
  const auto start = std::chrono::steady_clock::now();
  std::mutex mutex;
  estimator::run_parallel_jobs(jobs, missing.size(), [&](std::size_t i) {
    if (is_stopped()) return;
    const StudyRun run = run_task(*missing[i], stop);
    if (is_stopped()) return;
    store.store(run);
    const std::scoped_lock lock(mutex);
    ++progress.done;
    work_done += missing[i]->work;
    work_left -= missing[i]->work;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    progress.time_left = elapsed.count() / work_done * work_left;
    on_progress(progress);
  });
  std::vector<StudyRun> runs;
  if (is_stopped()) return runs;
  for (const StudyTask& task : tasks) {
    runs.push_back(store.find(task.key).value());
    // A stored run may serve two places: sweeps overlap where their settings agree.
    runs.back().place = task.place;
  }
  return runs;
}

}  // namespace service
