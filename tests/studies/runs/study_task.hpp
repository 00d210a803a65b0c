#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/studies/runs/study_run.hpp"
#include "tests/studies/study.hpp"

namespace service {

/// Recording of a study, loaded from a file or simulated.
struct StudyData {
  std::string name;
  std::vector<estimator::Recording> recordings;  ///< a single recording
  std::uint64_t fingerprint = 0;
  double duration = 0.0;  ///< duration of the used part [s]
  ParameterEdits edits;   ///< edits of parameters that the recording cannot identify
};

/// Computation in a study: usually a calibration, or a state estimation with given parameters.
struct StudyTask {
  RunLabels place;
  std::string key;    ///< hash of all inputs that affect the result
  double work = 0.0;  ///< rough number of calibration steps, to estimate remaining time
  /// Function that computes all members of the run except key, labels and time. Setting the flag
  /// `stop` ends it early.
  /// @throws std::invalid_argument if the input is rejected
  std::function<void(StudyRun&, const std::atomic<bool>* stop)> compute;
};

/// Returns the calibration options for a method and its settings. For shadow parameters, which the
/// paper uses, they omit the refinement of the open-loop simulation, so that a study evaluates the
/// joint estimate.
estimator::CalibrationOptions make_options(const StudyMethod& method,
                                           const StudySettings& settings);

/// Returns a calibration task with its key. Rounds the time step to the nearest integer multiple or
/// fraction of the sampling period, because a clock error of some ppm makes them differ. The key is
/// a hash of mechanism, data, options and the program's version, so a stored run is reused only if
/// none of them has changed.
StudyTask make_task(RunLabels place, std::shared_ptr<const StudyData> data,
                    const estimator::Mechanism& mechanism,
                    const estimator::CalibrationOptions& options, bool states_only = false,
                    bool keep_trajectories = false);

/// Runs a task and measures its time. If the input is rejected, the reason becomes the run's
/// `error`.
/// @return a run with termination "cancelled" if the flag `stop` was set
StudyRun run_task(const StudyTask& task, const std::atomic<bool>* stop);

/// Returns the mechanism with the parameter values that a run has estimated. Free parameters remain
/// free, because fixed inertias must be physically consistent and estimated ones may not be.
estimator::Mechanism with_estimates(estimator::Mechanism mechanism, const StudyRun& run);

}  // namespace service
