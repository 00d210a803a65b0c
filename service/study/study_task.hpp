#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "service/study/study.hpp"
#include "service/study/study_run.hpp"

namespace service {

/// A recording of a study, loaded or simulated.
struct StudyData {
  std::string name;
  std::vector<estimator::Recording> recordings;  ///< one
  std::uint64_t fingerprint = 0;
  double duration = 0.0;  ///< of what is used [s]
  ParameterEdits edits;   ///< what this recording cannot show
};

/// Something that a study has computed: mostly a calibration, or a state estimation with parameters
/// given.
struct StudyTask {
  RunPlace place;
  std::string key;    ///< of everything that decides what comes out
  double work = 0.0;  ///< rough amount, for the time left [steps of a calibration]
  /// Fills all but key, place and time. A flag that is set ends it early.
  /// @throws std::invalid_argument where it is refused
  std::function<void(StudyRun&, const std::atomic<bool>* stop)> compute;
};

/// The options of a method with settings. Of shadow parameters, those of the paper, a study looks
/// at the joint estimate: the simulation is not refined.
estimator::CalibrationOptions make_options(const StudyMethod& method,
                                           const StudySettings& settings);

/// A calibration with its key. The step becomes the nearest whole multiple, or fraction, of the
/// data's sampling period, which a clock some ppm off makes a little different. The key covers the
/// mechanism, the data, the options and the program's version, so that a run is repeated exactly
/// when one of them has changed.
StudyTask make_task(RunPlace place, std::shared_ptr<const StudyData> data,
                    const estimator::Mechanism& mechanism,
                    const estimator::CalibrationOptions& options, bool states_only = false,
                    bool keep_trajectories = false);

/// Computes and times. What is refused becomes the run's `error`.
/// @return a run whose termination says "cancelled" when the flag was set
StudyRun run_task(const StudyTask& task, const std::atomic<bool>* stop);

/// The mechanism with the estimates of a run, as far as it has any. What was free stays so: an
/// estimate may be no possible body, which only a fixed parameter must be.
estimator::Mechanism with_estimates(estimator::Mechanism mechanism, const StudyRun& run);

}  // namespace service
