#pragma once

#include <functional>
#include <memory>
#include <string>

#include "service/work/executor.hpp"
#include "service/work/slurm/slurm_commands.hpp"
#include "service/work/work_task.hpp"

namespace service {

/// Returns an executor that computes items on a Slurm cluster whose nodes share the store's folder.
///
/// It computes one item on this machine to measure its time, and submits all other items as a job
/// array with tasks of at least a minute of work. Slurm starts tasks of lost nodes again. Items
/// whose results are missing at the end are submitted twice more, with fewer items per task. Ctrl-C
/// and errors cancel the tasks. Their stored results remain. After an earlier process was killed,
/// the executor continues its job, if this job has the same settings and computes all missing
/// items.
///
/// Every 15 s, the executor asks for the states of the tasks with one call of squeue. It reads new
/// results every second, or less often if there are many. After the end of the tasks it waits up to
/// 90 s for results, which may appear late on a network file system. It waits up to 10 min for a
/// controller that does not answer. For tests, the environment variable RIGCAL_SLURM_POLL_S
/// replaces the 15 s; all other times are scaled in proportion.
std::unique_ptr<Executor> make_slurm_executor(SlurmSettings settings, WorkProgram program);

/// Function that returns the cluster for jobs of a name.
using MakeSlurmCluster = std::function<std::unique_ptr<SlurmCluster>(const std::string& name)>;

/// Returns an executor with another cluster and interval, for tests.
/// @param interval  time between two calls of `SlurmCluster::list` [s]
std::unique_ptr<Executor> make_slurm_executor(SlurmSettings settings, WorkProgram program,
                                              MakeSlurmCluster make_cluster, double interval);

}  // namespace service
