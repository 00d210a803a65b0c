#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
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

/// Result files of a job by their names: cross_validation.html and .json, table.txt, report.html
/// and result.json.
using JobFiles = std::map<std::string, std::string>;

/// Computes a calibration job. It reads the recordings, cuts each into segments at its gaps, and
/// calibrates all of them jointly. If there are several recordings, it also cross-validates; a
/// cross-validation that exceeds the time limit is left out.
/// @return nullopt if the job was stopped
/// @throws proto::InputError or std::invalid_argument for invalid input, and for input that cannot
/// be processed within the time limit; std::runtime_error if a recording is damaged
std::optional<JobFiles> compute_job(const JobRun& run);

/// Writes the result files durably into the job's folder, with their checksums (SHA256SUMS), and
/// result.json last.
/// @throws std::runtime_error if a file cannot be written
void save_job_files(const std::string& folder, const JobFiles& files);

/// Computes a job, and saves its files.
/// @return false if the job was stopped; no files are written in this case
/// @throws as compute_job and save_job_files
bool run_job(const JobRun& run);

}  // namespace service
