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

/// A recording of a study, loaded or simulated.
struct StudyData {
  std::string name;
  std::vector<estimator::Recording> recordings;  ///< one
  std::uint64_t fingerprint = 0;
  double duration = 0.0;  ///< of the used part [s]
  ParameterEdits edits;   ///< for parameters that this recording cannot identify
};

/// A computation of a study: usually a calibration, or a state estimation with given parameters.
struct StudyTask {
  RunLabels place;
  std::string key;    ///< hash of all inputs that affect the result
  double work = 0.0;  ///< rough amount, to estimate the remaining time [steps of a calibration]
  /// Fills all members except key, place and time. Setting the flag ends it early.
  /// @throws std::invalid_argument if the input is rejected
  std::function<void(StudyRun&, const std::atomic<bool>* stop)> compute;
};

/// Returns the options of a method with settings. For shadow parameters, which the paper uses, a
/// study evaluates the joint estimate: it does not refine the simulation.
estimator::CalibrationOptions make_options(const StudyMethod& method,
                                           const StudySettings& settings);

/// Makes a calibration task with its key. The step is rounded to the nearest integer multiple, or
/// fraction, of the sampling period, as a clock error of some ppm makes them differ. The key covers
/// mechanism, data, options and the program's version, so that a stored run is reused exactly if
/// none of them has changed.
StudyTask make_task(RunLabels place, std::shared_ptr<const StudyData> data,
                    const estimator::Mechanism& mechanism,
                    const estimator::CalibrationOptions& options, bool states_only = false,
                    bool keep_trajectories = false);

/// Runs and times a task. A rejection becomes the run's `error`.
/// @return a run with termination "cancelled" if the flag was set
StudyRun run_task(const StudyTask& task, const std::atomic<bool>* stop);

/// Returns the mechanism with the estimates of a run, as far as it has any. Free parameters stay
/// free: only fixed inertias must be physically consistent, and an estimate may not be.
estimator::Mechanism with_estimates(estimator::Mechanism mechanism, const StudyRun& run);

}  // namespace service
