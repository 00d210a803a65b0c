#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "tests/studies/runs/run_store.hpp"
#include "tests/studies/runs/study_task.hpp"

namespace service {

/// Progress in running a list of tasks.
struct StudyProgress {
  int done = 0;
  int total = 0;
  int kept = 0;             ///< number of `done` tasks that the store contained
  double time_left = -1.0;  ///< estimated remaining time [s]; negative: unknown
};

/// Runs all tasks whose results are not in the store, several at once, and stores each result.
///
/// @param jobs         number of threads, at least 1
/// @param stop         flag that ends the current runs without storing them; may be null
/// @param on_progress  called at the start and after every run, by one thread at a time
/// @return one run per task, in the order of the tasks; empty if stopped
/// @throws InputError if the store cannot be written
std::vector<StudyRun> run_tasks(const std::vector<StudyTask>& tasks, const RunStore& store,
                                int jobs, const std::atomic<bool>* stop,
                                const std::function<void(const StudyProgress&)>& on_progress);

}  // namespace service
