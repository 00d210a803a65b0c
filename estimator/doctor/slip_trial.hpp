#pragma once

#include <vector>

#include "estimator/calibrate/calibration.hpp"
#include "estimator/doctor/signal_examination.hpp"

namespace estimator {

/// The likeliest single slip in what a calibration left of the readings, however doubtful: noise,
/// or a model that has bent after it, may hide it from `examine_residuals`. Nothing where a slip
/// could not be what is left. To be tried, and kept where `is_slip_confirmed`.
SignalExamination suspect_slip(const Calibration& calibration,
                               const std::vector<Recording>& recordings);

/// Whether the model holds with the slip's offset free, as it did not without, and the offset is
/// sure to be one.
///
/// @param offset  parameter, by name
bool is_slip_confirmed(const Calibration& without, const Calibration& with,
                       const std::string& offset);

}  // namespace estimator
