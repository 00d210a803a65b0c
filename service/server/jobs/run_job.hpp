#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "proto/service.pb.h"

namespace service {

/// One run of a calibration job.
struct JobRun {
  std::string folder;                        ///< job's folder; contains job.textproto
  std::vector<std::string> recording_paths;  ///< in the order of the job's recordings
  std::string version;                       ///< version of this program
  double duration_s_max;                     ///< time limit [s]
  std::function<void(const rigcal::v1::JobProgress&)> on_progress;
  const std::atomic<bool>* stop = nullptr;  ///< flag that ends the job; polled once per iteration
  const std::atomic<bool>* is_time_over = nullptr;  ///< whether `stop` is set by the time limit
};

/// Runs a calibration job. It reads the recordings, cuts each into segments at its gaps, and
/// calibrates all of them jointly. If there are several recordings, it also cross-validates; a
/// cross-validation that exceeds the time limit is left out. It writes these files durably into the
/// job's folder: cross_validation.html and .json, table.txt, report.html, their checksums
/// (SHA256SUMS) and finally result.json.
/// @return false if the job was stopped; no files are written in this case
/// @throws proto::InputError or std::invalid_argument for invalid input, and for input that cannot
/// be processed within the time limit; std::runtime_error if a recording is damaged or a file
/// cannot be written
bool run_job(const JobRun& run);

/// Executes the command "run-job FOLDER PARENT_PID MEMORY_BYTES DURATION_S RECORDING...": calls
/// run_job in this process at low priority, with limits on memory, processor time and file size.
/// The process ends on SIGTERM, on SIGALRM (time limit) and when its parent process ends. It writes
/// worker messages to file descriptor 3.
/// @return exit status: 0 job done, 1 job failed, 2 not started by a service
int run_job_process(const std::vector<std::string>& arguments, const std::string& version);

}  // namespace service
