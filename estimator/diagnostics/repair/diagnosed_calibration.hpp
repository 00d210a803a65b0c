#pragma once

#include <stdexcept>
#include <utility>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "estimator/fit/fit_options.hpp"

namespace estimator {

/// The error thrown if the recordings or the description permit no meaningful estimate.
class UnusableInput : public std::invalid_argument {
 public:
  explicit UnusableInput(std::vector<Finding> all)
      : std::invalid_argument("unusable input"), findings(std::move(all)) {}

  std::vector<Finding> findings;  ///< at least one fault, and all warnings and notes
};

/// The examined and repaired input of a calibration.
struct DiagnosedInput {
  Mechanism mechanism;  ///< mechanism with a free encoder offset for each slip
  std::vector<Recording> recordings;
  std::vector<Finding> findings;
  /// An encoder slip: index of the finding that reports it, index of the parameter that estimates
  /// its size, and quantization step of the encoder.
  struct EncoderSlip {
    int finding, parameter;
    double quantum;
  };
  std::vector<EncoderSlip> slips;
};

/// Examines recordings and description for faults. If `options.repair` is set, makes the repairs
/// that are possible without asking the user.
DiagnosedInput examine_and_repair_input(const Mechanism& mechanism,
                                        const std::vector<Recording>& recordings,
                                        const CalibrationOptions& options,
                                        const SensorDescription& facts = {},
                                        const CalibrationMonitor& monitor = {});

/// Removes encoder slips with estimated sizes below two standard deviations, with their findings
/// and free offsets. If any is removed, the remaining parameters get their estimates.
/// @param calibration  calibration of `input`
/// @return whether any was removed, so that another calibration is needed
bool remove_insignificant_slips(const Calibration& calibration, DiagnosedInput& input);

/// Returns whether any finding rules out a meaningful estimate.
bool has_fault(const std::vector<Finding>& findings);

/// Checks that no finding rules out a meaningful estimate.
/// @throws UnusableInput if a finding does and `options.repair` is set
void require_no_fault(const std::vector<Finding>& findings, const CalibrationOptions& options);

/// A calibration of examined input, and the repaired input that was finally used.
struct DiagnosedCalibration {
  Calibration calibration;  ///< result, which includes all findings
  DiagnosedInput input;
};

/// Examines and repairs the input, calibrates, and examines the residuals. If the residuals reveal
/// further faults, repairs these and calibrates again from the estimates. Without findings, the
/// result is bit-identical to the result of `calibrate`.
/// @throws as `calibrate` and `require_no_fault`
DiagnosedCalibration calibrate_with_diagnostics(const Mechanism& mechanism,
                                                const std::vector<Recording>& recordings,
                                                const CalibrationOptions& options,
                                                const SensorDescription& facts = {},
                                                const CalibrationMonitor& monitor = {});

}  // namespace estimator
