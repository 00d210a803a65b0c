#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimator/calibrate/bootstrap.hpp"
#include "service/calibration/calibration_input.hpp"
#include "service/work/executor.hpp"

namespace service {

/// Settings of a bootstrap.
struct BootstrapSettings {
  int draws = 1000;  ///< draws of each random method
  std::uint64_t seed = 1;
  std::vector<estimator::BootstrapMethod> methods = {estimator::BootstrapMethod::kNoise,
                                                     estimator::BootstrapMethod::kBlocks,
                                                     estimator::BootstrapMethod::kLeaveOut};
  double block_length = 0.0;  ///< length of blocks of time [s]; 0: a twelfth of the recordings
  double disc_error = 0.0;    ///< amplitude of the simulated error of encoder discs [rad]
};

/// Numbers of draws of one method.
struct BootstrapMethodCount {
  estimator::BootstrapMethod method;
  int draws = 0;
  int failed = 0;       ///< draws without result
  std::string failure;  ///< reason of the first failed draw
};

/// Result of a bootstrap, with the calibration whose intervals it checks.
struct BootstrapResult {
  estimator::Calibration calibration;
  estimator::Bootstrap bootstrap;
  BootstrapSettings settings;
  std::vector<BootstrapMethodCount> counts;  ///< one per method, in the order of the settings
  int blocks = 0;                            ///< number of blocks of time
  std::string left_out;                      ///< part left out by kLeaveOut: "recording" or "block"
  std::vector<std::string> notes;
};

/// Name of this kind of work for other machines (WorkBatch::kind).
inline constexpr const char* kBootstrapWork = "bootstrap";

/// Returns the name of a method: "noise", "blocks" or "leave-out".
const char* bootstrap_method_name(estimator::BootstrapMethod method);

/// Calibrates the recordings, computes the missing draws, and compares the intervals. The result
/// does not depend on the executor. On return, `input` contains the repaired data and the wall
/// time.
/// @param program  version and build of the program that computes the draws; part of their keys
/// @return nullopt if stopped; finished draws remain in the store
/// @throws as `run_calibration`; proto::InputError if the bootstrap is not possible
std::optional<BootstrapResult> run_bootstrap(CalibrationInput& input,
                                             const BootstrapSettings& settings,
                                             const std::string& program, Executor& executor,
                                             WorkStore& store,
                                             const estimator::CalibrationMonitor& monitor,
                                             const WorkProgressFunction& on_progress);

/// Returns the result of a bootstrap as JSON (rigcal.v1.BootstrapResult), with all fields.
std::string bootstrap_json(const BootstrapResult& result, const CalibrationMetadata& context);

/// Makes the function that computes the draws of a bootstrap on another machine.
/// @param common  inputs of all draws, from the batch
WorkFunction make_bootstrap_function(const std::string& common);

}  // namespace service
