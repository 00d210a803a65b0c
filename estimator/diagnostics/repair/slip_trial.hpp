#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "estimator/fit/fit_options.hpp"

namespace estimator {

/// Hypothetical jumps in recordings: an encoder slip, and instants at which time may be lost.
struct SuspectedJump {
  /// Slip of one encoder; has no repairs if no slip is suspected.
  SignalExamination slip;
  std::vector<Cut> lost_times = {};  ///< rows before which time may be lost, the likeliest first
};

/// Returns the likeliest single encoder slip (`likeliest_slip`) and the likeliest instants of lost
/// time (`likeliest_lost_time`, or the instant of the slip) for a rejected model, if noise alone
/// does not explain them. Noise, or a model that has adapted to them, may hide them from
/// `examine_residuals`. The caller tries a repair, and keeps it if `is_slip_confirmed`, or if the
/// model is accepted on both sides of a cut.
/// @param estimate  mechanism estimated without the repair
SuspectedJump find_likeliest_jump(const Mechanism& estimate,
                                  const std::vector<Recording>& recordings,
                                  const CalibrationOptions& options,
                                  const CalibrationMonitor& monitor);

/// Returns whether a slip is confirmed: its offset is significant, and the model is accepted with
/// this offset free but rejected without it.
/// @param offset  name of the parameter that is the offset of the slip
bool is_slip_confirmed(const Calibration& without, const Calibration& with,
                       const std::string& offset);

}  // namespace estimator
