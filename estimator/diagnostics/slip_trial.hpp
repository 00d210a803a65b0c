#pragma once

#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/diagnostics/signal_examination.hpp"
#include "estimator/fit/fit_options.hpp"

namespace estimator {

/// Hypothetical events in recordings at one instant.
struct SuspectedJump {
  SignalExamination slip;            ///< of one encoder; without repairs: no slip
  std::vector<Cut> lost_times = {};  ///< rows before which time may be lost, the likeliest first
};

/// Returns the likeliest single slip if the model is rejected (`likeliest_slip`), and the likeliest
/// places of lost time (`likeliest_lost_time`, or the slip's place), if noise alone does not
/// explain them. A model that has adapted to them, or noise, may hide them from
/// `examine_residuals`. The caller tries a repair, and keeps it if `is_slip_confirmed`, or if the
/// model is accepted on both sides of a cut.
///
/// @param estimate  result without the repair
SuspectedJump find_likeliest_jump(const Mechanism& estimate,
                                  const std::vector<Recording>& recordings,
                                  const CalibrationOptions& options,
                                  const CalibrationMonitor& monitor);

/// Returns whether the model is accepted with the slip's offset free, was rejected without, and the
/// offset is significant.
///
/// @param offset  parameter name
bool is_slip_confirmed(const Calibration& without, const Calibration& with,
                       const std::string& offset);

}  // namespace estimator
