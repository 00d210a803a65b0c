#pragma once

#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Why a calibration leaves more than its readings' noise: each likely cause is fitted, from the
/// estimate on, to short pieces of the recordings. The cause that helps most is told, with its
/// size, its deviation and how far it helps, or that none does:
///
/// - a command that acts later or earlier than recorded, or that the motor's amplifier clips;
/// - a clock that is fast or slow;
/// - readings that stay at an end of an encoder's range;
/// - a hinge point that lies elsewhere, or has the wrong sign;
/// - friction that the description does not know, or that creeps where it has it hold;
/// - air that holds bodies back which move on others.
///
/// What free parameters absorb (a clock's error, where every force is estimated) helps nothing, and
/// nothing is said of it.
///
/// Nothing where residuals are as the noise, and for parameters of a SPOOK simulator.
std::vector<Finding> explain_misfit(const Calibration& calibration, const Mechanism& mechanism,
                                    const std::vector<Recording>& recordings,
                                    const CalibrationMonitor& monitor = {});

}  // namespace estimator
