#pragma once

#include <string>
#include <vector>

namespace service {

/// Exit status of a job that has reached its time limit on the cluster.
inline constexpr int kTimeOverStatus = 3;

/// Checks the settings of a cluster.
/// @param settings  DaemonSlurm in text format
/// @throws proto::InputError if Slurm's commands are not installed, or a file cannot be read
void check_cluster_settings(const std::string& settings);

/// Executes the command "run-cluster-job FOLDER PARENT_PID MEMORY_BYTES DURATION_S SETTINGS
/// RECORDING...": runs a job as a task of a Slurm cluster whose nodes share the data folder, and
/// saves its result files in the job's folder. SETTINGS is a DaemonSlurm in text format.
///
/// This process waits for the task. SIGTERM cancels the task. If the process is killed, the task
/// continues, and the same command follows it. Progress and processor time of the task are sent to
/// the service in worker messages to file descriptor 3.
/// @return exit status: 0 job done, 1 job failed, 2 not started by a service, kTimeOverStatus
int run_cluster_job_process(const std::vector<std::string>& arguments, const std::string& version);

/// Executes the command "run-task --folder FOLDER --task 0 ..." on a node of the cluster: computes
/// the job of `run_cluster_job_process`, with the same limits as on the machine of the service. The
/// time limit begins at the start of the task.
/// @return exit status: 0 the result, or the reason why there is none, is stored; 1 not stored
int run_task_process(const std::vector<std::string>& arguments, const std::string& version);

}  // namespace service
