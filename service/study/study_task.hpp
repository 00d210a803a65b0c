#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "estimator/calibrate/calibration.hpp"
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

/// Step that a time is reckoned with where none is given [s].
inline constexpr double kStep = 0.004;

/// One calibration, or state estimation with parameters given, that a study asks for.
struct StudyTask {
  RunPlace place;
  std::shared_ptr<const StudyData> data;
  estimator::Mechanism mechanism;  ///< start values
  estimator::CalibrationOptions options;
  bool states_only = false;  ///< parameters are kept
  bool keep_trajectories = false;
  std::string key;

  /// Rough amount of work, for the time left [steps].
  double work() const { return data->duration / (options.step > 0.0 ? options.step : kStep); }
};

/// The options of a method with settings. Of shadow parameters, those of the paper, a study looks
/// at the joint estimate: the simulation is not refined.
estimator::CalibrationOptions make_options(const StudyMethod& method,
                                           const StudySettings& settings);

/// A task with its key. The step becomes the nearest whole multiple, or fraction, of the data's
/// sampling period, which a clock some ppm off makes a little different. The key covers the
/// mechanism, the data, the options and the program's version, so that a run is repeated exactly
/// when one of them has changed.
StudyTask make_task(RunPlace place, std::shared_ptr<const StudyData> data,
                    const estimator::Mechanism& mechanism,
                    const estimator::CalibrationOptions& options, bool states_only = false,
                    bool keep_trajectories = false);

/// Runs a task. What the estimator refuses becomes the run's `error`.
/// @return a run whose termination says "cancelled" when the flag was set
StudyRun run_task(const StudyTask& task, const std::atomic<bool>* stop);

}  // namespace service
