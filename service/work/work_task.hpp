#pragma once

#include <memory>
#include <string>
#include <vector>

#include "service/work/executor.hpp"
#include "service/work/work_item.hpp"

namespace service {

/// Program that computes tasks on other machines.
struct WorkProgram {
  std::string version;
  std::string build;  ///< SHA-256 of the program's file
};

/// Returns version and build of this program.
/// @param version  version of this program
WorkProgram describe_this_program(const std::string& version);

/// Writes the items of a batch as tasks into a folder: `tasks/batch` with the inputs of all items,
/// and `tasks/N` with the items of task N, from 0. Replaces the tasks of an earlier call.
/// @param tasks    items of each task
/// @param program  program that will compute the tasks
/// @throws proto::InputError naming the file that cannot be written
void write_tasks(const std::string& folder, const WorkBatch& batch,
                 const std::vector<std::vector<const WorkItem*>>& tasks,
                 const WorkProgram& program);

/// Reads a task from a folder. `compute` is empty.
/// @param program  version and build of this program
/// @throws proto::InputError if the folder has no such task, or if another version or build of
///         rigcal wrote it
WorkBatch read_task(const std::string& folder, int task, const WorkProgram& program);

/// Returns an executor that does not compute: it writes the missing items as tasks into the folder
/// of the store, for `rigcal work`.
/// @param count  number of tasks; fewer if there are fewer items
std::unique_ptr<Executor> make_task_writer(int count, WorkProgram program);

}  // namespace service
