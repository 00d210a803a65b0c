#pragma once

#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/doctor/signal_examination.hpp"
#include "estimator/fit/fit_options.hpp"

namespace estimator {

/// What may have happened to recordings at one instant.
struct SuspectedJump {
  SignalExamination slip;        ///< of one encoder; nothing needs repair: there is none
  std::vector<Cut> losses = {};  ///< rows ahead of which time may be lost, the likeliest first
};

/// The likeliest single slip beside a model that does not hold (`likeliest_slip`), and where time
/// was most likely lost (`likeliest_lost_time`, or at the slip's place), if noise alone does not
/// make one: a model that has bent after it, or noise, may hide it from `examine_residuals`. To be
/// tried, and kept where `is_slip_confirmed`, or the model holds on both sides of a cut.
///
/// @param estimate  what came out without it
SuspectedJump suspect_jump(const Mechanism& estimate, const std::vector<Recording>& recordings,
                           const CalibrationOptions& options, const CalibrationMonitor& monitor);

/// Whether the model holds with the slip's offset free, as it did not without, and the offset is
/// sure to be one.
///
/// @param offset  parameter, by name
bool is_slip_confirmed(const Calibration& without, const Calibration& with,
                       const std::string& offset);

}  // namespace estimator
