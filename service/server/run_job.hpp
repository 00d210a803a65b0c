#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "proto/service.pb.h"

namespace service {

/// One calibration job, from its files to its files.
struct JobRun {
  std::string folder;                        ///< holds job.textproto
  std::vector<std::string> recording_paths;  ///< in the order of the job's recordings
  std::string version;                       ///< of this program
  double duration_s_max;                     ///< after which it is ended
  std::function<void(const rigcal::v1::JobProgress&)> on_progress;
  const std::atomic<bool>* stop = nullptr;  ///< polled once per iteration
};

/// Runs the job: reads the recordings, each cut into segments at its gaps, calibrates jointly,
/// cross-validates where there are several, and writes into the job's folder, durably:
/// cross_validation.html and .json, table.txt, report.html and, last, result.json.
/// @return false if it was stopped; nothing is written then
/// @throws proto::InputError or std::invalid_argument for input that cannot be used, or cannot be
/// done within the time
bool run_job(const JobRun& run);

/// The command "run-job FOLDER PARENT_PID MEMORY_BYTES DURATION_S RECORDING...": run_job as a
/// process of its own, at low priority, with limited memory, processor time and size of files, that
/// ends with its parent and on SIGTERM. Writes worker messages to descriptor 3.
/// @return exit status: 0 the job is done, 1 it failed, 2 not started by a service
int run_job_process(const std::vector<std::string>& arguments, const std::string& version);

}  // namespace service
