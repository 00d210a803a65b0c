#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/diagnostics/signal_examination.hpp"
#include "estimator/fit/fit_options.hpp"

namespace estimator {

/// Recordings or a description from which no meaningful estimate is possible.
class UnusableInput : public std::invalid_argument {
 public:
  UnusableInput(const std::string& what, std::vector<Finding> all)
      : std::invalid_argument(what), findings(std::move(all)) {}

  std::vector<Finding> findings;  ///< all findings, not only faults
};

/// Examined and repaired input of an estimation.
struct DiagnosedInput {
  Mechanism mechanism;  ///< with a free offset per slip
  std::vector<Recording> recordings;
  std::vector<Finding> findings;
  /// The finding that reports a slip, and the parameter that estimates it.
  struct Slip {
    int finding, parameter;
    double quantum;
  };
  std::vector<Slip> slips;
};

/// Examines recordings and description, and makes the repairs that need no confirmation unless
/// `options.repair` is false.
DiagnosedInput examine(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                       const CalibrationOptions& options, const SensorDescription& facts = {},
                       const CalibrationMonitor& monitor = {});

/// Returns whether a finding rules out a meaningful estimate.
bool has_fault(const std::vector<Finding>& findings);

/// Checks that no finding rules out a meaningful estimate.
/// @throws UnusableInput otherwise, unless `options.repair` is false
void require_no_fault(const std::vector<Finding>& findings, const CalibrationOptions& options);

/// A calibration of examined input, and the input finally used.
struct DiagnosedCalibration {
  Calibration calibration;  ///< with all findings
  DiagnosedInput input;
};

/// Examines and repairs the input, calibrates, and examines the residuals. If they reveal further
/// faults, repairs these and calibrates again from the estimate. Without findings the result is
/// bit-identical to that of `calibrate`.
///
/// @throws as `calibrate` and `require_no_fault`
DiagnosedCalibration calibrate_with_diagnostics(const Mechanism& mechanism,
                                                const std::vector<Recording>& recordings,
                                                const CalibrationOptions& options,
                                                const SensorDescription& facts = {},
                                                const CalibrationMonitor& monitor = {});

}  // namespace estimator
