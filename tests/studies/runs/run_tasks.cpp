#include "tests/studies/runs/run_tasks.hpp"

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "proto/text/input_error.hpp"
#include "tests/studies/runs/run_record.hpp"

namespace service {

std::vector<StudyRun> run_tasks(const std::vector<StudyTask>& tasks, WorkStore& store,
                                Executor& executor, const std::atomic<bool>* stop,
                                const WorkProgressFunction& on_progress) {
  WorkBatch batch{.kind = "study"};
  std::unordered_map<std::string, const StudyTask*> by_key;
  for (const StudyTask& task : tasks) {
    batch.items.push_back({.key = task.key, .request = {}, .work = task.work});
    by_key.emplace(task.key, &task);
  }
  batch.compute = [&by_key](const WorkItem& item, const std::atomic<bool>* stop_item) {
    return format_run(run_task(*by_key.at(item.key), stop_item));
  };
  std::vector<StudyRun> runs;
  if (!executor.run(batch, store, stop, on_progress)) return runs;
  for (const StudyTask& task : tasks) {
    runs.push_back(parse_run(store.find(task.key).value().value));
    // A stored run may serve two places: sweeps overlap where their settings agree.
    runs.back().place = task.place;
  }
  return runs;
}

void compute_node_task(const WorkBatch& batch, WorkStore& store, Executor& executor,
                       const std::atomic<bool>* stop,
                       const std::function<void(const TaskRunner&)>& compute) {
  std::unordered_set<std::string> wanted;
  for (const WorkItem& item : batch.items) wanted.insert(item.key);
  compute([&](const std::vector<StudyTask>& tasks) -> std::optional<std::vector<StudyRun>> {
    std::vector<StudyTask> here;
    for (const StudyTask& task : tasks) {
      if (wanted.erase(task.key) > 0) here.push_back(task);
    }
    run_tasks(here, store, executor, stop, {});
    if (wanted.empty() || (stop != nullptr && stop->load())) return std::nullopt;
    return run_tasks(tasks, store, executor, stop, {});
  });
  if (wanted.empty() || (stop != nullptr && stop->load())) return;
  throw proto::InputError(store.folder() + ": " + std::to_string(wanted.size()) +
                          " runs of the task are not in the study on this machine; use the same "
                          "study file, rig files and recordings on all machines");
}

}  // namespace service
