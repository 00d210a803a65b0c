#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace service {

/// State of one task of a job array, or of several pending ones.
struct SlurmTask {
  std::string index;   ///< index in the array; for pending tasks also ranges, e.g. "3-5,7";
                       ///< "N/A" for all tasks that were cancelled before their start
  std::string state;   ///< state as printed by squeue, e.g. "RUNNING"
  std::string reason;  ///< reason as printed by squeue, e.g. "Resources"
};

/// Format of squeue that `parse_slurm_tasks` reads.
inline constexpr const char* kSlurmTaskFormat = "%F|%K|%T|%r";

/// Returns the number of a submitted job from the output of `sbatch --parsable`.
/// @throws proto::InputError if the output contains no number
std::string parse_slurm_job(std::string_view output);

/// Returns the tasks of a job from the output of squeue in kSlurmTaskFormat.
/// @throws proto::InputError if a line has another format, job or an unknown state
std::vector<SlurmTask> parse_slurm_tasks(std::string_view output, const std::string& job);

/// Returns whether the task has ended; otherwise it waits or runs.
bool has_ended(const SlurmTask& task);

/// Returns whether Slurm holds a pending task (Slurm's state "held"), for example after a failed
/// start. The task starts only if somebody releases it.
bool is_held(const SlurmTask& task);

/// Returns why a pending task will never start, with a remedy; nullopt if it can start.
std::optional<std::string> find_blocking_reason(const SlurmTask& task);

}  // namespace service
