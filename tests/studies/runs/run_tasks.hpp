#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "service/work/executor.hpp"
#include "tests/studies/runs/study_task.hpp"
#include "tests/studies/study_kinds.hpp"

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

/// Computes the runs of one task of a cluster, and stores each result.
///
/// @param batch    task that another process of the same study has made
/// @param compute  function that makes all runs of the study with the given runner. Runs that
///                 depend on results of others find these in the store
/// @throws InputError if the study does not contain the runs of the task
void compute_node_task(const WorkBatch& batch, WorkStore& store, Executor& executor,
                       const std::atomic<bool>* stop,
                       const std::function<void(const TaskRunner&)>& compute);

}  // namespace service
