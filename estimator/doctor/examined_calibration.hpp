#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/doctor/signal_examination.hpp"
#include "estimator/fit/fit_options.hpp"

namespace estimator {

/// Recordings or a description with which estimates would be nonsense.
class UnusableInput : public std::invalid_argument {
 public:
  UnusableInput(const std::string& what, std::vector<Finding> all)
      : std::invalid_argument(what), findings(std::move(all)) {}

  std::vector<Finding> findings;  ///< not the faults alone
};

/// What is estimated from, looked at and repaired.
struct ExaminedInput {
  Mechanism mechanism;  ///< with a free offset for each slip
  std::vector<Recording> recordings;
  std::vector<Finding> findings;
  /// Finding that tells of a slip, and the parameter that it is estimated by.
  struct Slip {
    int finding, parameter;
    double quantum;
  };
  std::vector<Slip> slips;
};

/// Looks at recordings and description and repairs what can be repaired, unless `options.repair` is
/// false.
ExaminedInput examine(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                      const CalibrationOptions& options, const SensorFacts& facts = {},
                      const CalibrationMonitor& monitor = {});

/// Whether something was found with which estimates would be nonsense.
bool has_fault(const std::vector<Finding>& findings);

/// @throws UnusableInput where something was found with which estimates would be nonsense, unless
///         `options.repair` is false
void require_no_fault(const std::vector<Finding>& findings, const CalibrationOptions& options);

/// A calibration of what was examined, and what it was estimated from in the end.
struct ExaminedCalibration {
  Calibration calibration;  ///< its findings: all
  ExaminedInput input;
};

/// Examines, repairs, calibrates, looks again at what the model leaves of the readings, and where
/// that shows more, repairs and calibrates once more from the estimate. Without findings the result
/// is that of `calibrate`, to the bit.
///
/// @throws as `calibrate`, and `require_no_fault`
ExaminedCalibration calibrate_examined(const Mechanism& mechanism,
                                       const std::vector<Recording>& recordings,
                                       const CalibrationOptions& options,
                                       const SensorFacts& facts = {},
                                       const CalibrationMonitor& monitor = {});

}  // namespace estimator
