#pragma once

#include <atomic>
#include <vector>

#include "service/work/executor.hpp"
#include "tests/studies/runs/study_task.hpp"

namespace service {

/// Runs all tasks whose results are not in the store, and stores each result.
///
/// @param stop         flag that ends the current runs without storing them; may be null
/// @param on_progress  see Executor::run
/// @return one run per task, in the order of the tasks; empty if stopped
/// @throws InputError if the store cannot be written
std::vector<StudyRun> run_tasks(const std::vector<StudyTask>& tasks, WorkStore& store,
                                Executor& executor, const std::atomic<bool>* stop,
                                const WorkProgressFunction& on_progress);

}  // namespace service
