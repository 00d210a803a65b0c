#pragma once

#include <cstddef>
#include <memory>
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
  int cpus = 1;              ///< processors of a task; it computes this many items at once
  std::string head;          ///< file with the first lines of the batch script, or empty
  std::string node_program;  ///< path of rigcal on the nodes; empty: the path of this program
  /// Arguments of the program on the nodes; "--folder DIR --task N --threads T" follow.
  std::vector<std::string> node_arguments = {"work"};
  /// Whether this machine computes one item to measure its time. If not, each item is a task.
  bool measures_items = true;
  /// File with the last answer of squeue. Executors with the same file share the answer, so that
  /// they call squeue only once per interval. Empty: not shared.
  std::string shared_states;
};

/// Interface of a Slurm cluster: submits, lists and cancels the job arrays of one name.
class SlurmCluster {
 public:
  virtual ~SlurmCluster() = default;

  /// Submits an array of tasks, which run the script with the indices 0 to count - 1.
  /// @param folder  folder for the script and for the output of task N, "N.out"
  /// @return number of the job; nullopt if the controller does not answer
  /// @throws proto::InputError with the reason of Slurm
  virtual std::optional<std::string> submit(const SlurmSettings& settings,
                                            const std::string& folder, const std::string& script,
                                            std::size_t count) = 0;

  /// Returns the tasks of a job that are pending, running or recently ended; nullopt if the
  /// controller does not answer. A job that the controller has forgotten has no tasks.
  virtual std::optional<std::vector<SlurmTask>> list(const std::string& job) = 0;

  /// Cancels all jobs of this name, also jobs of an earlier process.
  virtual void cancel() noexcept = 0;
};

/// Throws unless Slurm's commands are installed.
/// @throws proto::InputError if one of the commands is not installed
void require_slurm_commands();

/// Returns the cluster that sbatch, squeue and scancel control.
/// @param name           name of the jobs, which no other job of the user has
/// @param shared_states  see SlurmSettings
/// @param interval       least time between two calls of squeue with the same `shared_states` [s]
/// @throws proto::InputError if one of the commands is not installed
std::unique_ptr<SlurmCluster> make_slurm_commands(std::string name,
                                                  const std::string& shared_states,
                                                  double interval);

}  // namespace service
