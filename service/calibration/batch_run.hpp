#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "service/work/executor.hpp"

namespace service {

/// One calibration of a batch.
struct BatchEntry {
  std::vector<std::string> recordings;  ///< paths
  std::string rig;                      ///< path of the rig file
};

/// Name of this kind of work for other machines (WorkBatch::kind).
inline constexpr const char* kBatchWork = "batch";

/// Reads a list of calibrations: a CSV file with the columns "recording" and "rig". Semicolons
/// separate several recordings in a cell. Paths are relative to the folder of the list.
/// @throws proto::InputError naming the line for an invalid list
std::vector<BatchEntry> read_batch_list(const std::string& path);

/// Estimate of one parameter in a batch.
struct BatchEstimate {
  std::string name, unit;
  double value, standard_deviation, half_interval;
};

/// Result of one calibration of a batch.
struct BatchOutcome {
  std::string failure;  ///< reason for a missing result; empty if there is a result
  bool converged = false;
  std::string verdict;   ///< "accepted", "doubtful", "rejected" or "no-fit"
  std::string sentence;  ///< the verdict for users
  std::vector<BatchEstimate> estimates;
  std::string json;  ///< result in the format of `rigcal calibrate --json`
};

/// Calibrates all entries whose results are not in the store. If a file of an entry cannot be read,
/// the outcome of the entry is a failure, which is not stored.
/// @param program  version and build of the program that computes the results; part of their keys
/// @return one outcome per entry; empty if stopped
/// @throws proto::InputError if the store cannot be written
std::vector<BatchOutcome> run_batch(const std::vector<BatchEntry>& entries,
                                    const estimator::CalibrationOptions& options,
                                    const std::string& version, const std::string& program,
                                    Executor& executor, WorkStore& store,
                                    const std::atomic<bool>* stop,
                                    const WorkProgressFunction& on_progress);

/// Makes the function that computes the calibrations of a batch on another machine.
WorkFunction make_batch_function(const std::string& common);

}  // namespace service
