#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "proto/service.pb.h"

namespace service {

/// One calibration job.
struct JobRun {
  std::string folder;                        ///< contains job.textproto
  std::vector<std::string> recording_paths;  ///< in the order of the job's recordings
  std::string version;                       ///< of this program
  double duration_s_max;                     ///< time limit [s]
  std::function<void(const rigcal::v1::JobProgress&)> on_progress;
  const std::atomic<bool>* stop = nullptr;  ///< polled once per iteration
};

/// Runs the job. Reads the recordings, cuts each into segments at its gaps, calibrates them
/// jointly, and cross-validates if there are several. Writes durably into the job's folder:
/// cross_validation.html and .json, table.txt, report.html and finally result.json.
/// @return false if it was stopped; nothing is written then
/// @throws proto::InputError or std::invalid_argument for invalid input, or input that cannot be
/// processed within the time limit
bool run_job(const JobRun& run);

/// The command "run-job FOLDER PARENT_PID MEMORY_BYTES DURATION_S RECORDING...". Executes run_job
/// in this process at low priority, with limits on memory, processor time and file size. Ends with
/// its parent and on SIGTERM. Writes worker messages to descriptor 3.
/// @return exit status: 0 done, 1 failed, 2 not started by a service
int run_job_process(const std::vector<std::string>& arguments, const std::string& version);

}  // namespace service
