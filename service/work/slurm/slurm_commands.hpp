#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/work/slurm/slurm_states.hpp"

namespace service {

/// Resources of the tasks on a Slurm cluster. Empty or 0: the cluster's default.
struct SlurmSettings {
  std::string partition;
  std::string account;
  int time_min = 0;          ///< time limit of a task [min]
  int memory_MB = 0;         ///< memory of a task [MB]
  int cpus = 1;              ///< processors of a task, which computes as many items at once
  std::string head;          ///< file with the first lines of the batch script, or empty
  std::string node_program;  ///< path of rigcal on the nodes; empty: the path of this program
  /// Arguments of the program on the nodes; "--folder DIR --task N --threads T" follow.
  std::vector<std::string> node_arguments = {"work"};
};

/// Submits, lists and cancels job arrays with sbatch, squeue and scancel.
class SlurmCommands {
 public:
  /// @param name  name of the jobs, which no other job of the user has
  /// @throws proto::InputError if one of the commands is not installed
  explicit SlurmCommands(std::string name);

  /// Submits an array of tasks, which run the script with the indices 0 to count - 1.
  /// @param folder  folder for the script and for the output of task N, "N.out"
  /// @return number of the job
  /// @throws proto::InputError with the reason of Slurm
  std::string submit(const SlurmSettings& settings, const std::string& folder,
                     const std::string& script, std::size_t count) const;

  /// Returns the tasks of a job that wait, run or have ended a short time ago; nullopt if the
  /// controller does not answer. A job that the controller has forgotten has no tasks.
  std::optional<std::vector<SlurmTask>> list(const std::string& job) const;

  /// Cancels all jobs of this name, also those of an earlier process.
  void cancel() const noexcept;

 private:
  std::string name_;
};

}  // namespace service
