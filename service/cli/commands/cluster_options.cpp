#include <map>

#include "proto/text/command_line/command_line.hpp"
#include "service/cli/commands/command_options.hpp"

namespace service {

CLI::Option* add_cluster_options(CLI::App& command, bool& on_slurm, SlurmSettings& slurm) {
  const std::string group = "Cluster";
  CLI::Option* const executor =
      add_option(command, "--executor", on_slurm, "local|slurm",
                 "Compute on this machine, or on a Slurm cluster whose nodes share the folder of "
                 "the results; default: local",
                 group)
          ->transform(
              proto::one_of(std::map<std::string, bool>{{"local", false}, {"slurm", true}}));
  const auto add = [&](const char* name, auto& value, const char* type, const char* description) {
    return add_option(command, name, value, type, description, group)->needs(executor);
  };
  add("--partition", slurm.partition, "NAME",
      "Partition of the cluster; default: its default partition");
  add("--account", slurm.account, "NAME",
      "Slurm account of the tasks; default: the default account of the user");
  add("--task-time", slurm.time_min, "MIN",
      "Time limit of a task [min]; default: the limit of the partition")
      ->check(proto::count_from_to(1, 100'000));
  add("--task-memory", slurm.memory_MB, "MB",
      "Memory of a task [MB]; default: the default of the partition")
      ->check(proto::count_from_to(1, 100'000'000));
  add("--task-cpus", slurm.cpus, "N",
      "Processors of a task; each computes one draw or calibration at a time; default: 1")
      ->check(proto::count_from_to(1, 256));
  add("--batch-head", slurm.head, "FILE",
      "First lines of the batch script: \"#!\", \"#SBATCH\" lines, and commands such as "
      "\"module load\"");
  add("--node-program", slurm.node_program, "PATH",
      "Path of this program on the nodes; default: the path on this machine");
  return executor;
}

}  // namespace service
