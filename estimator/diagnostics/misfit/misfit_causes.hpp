#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Searches for the cause of residuals above the sensor noise. Fits each likely cause, starting
/// from the estimate, to short excerpts of the recordings. Reports the cause that improves the fit
/// most, with size, standard deviation and improvement, or that no cause does. The causes are:
///
/// - a command that acts later or earlier than recorded, or is clipped by the amplifier;
/// - a clock that is fast or slow;
/// - readings clipped at an end of an encoder's range;
/// - a joint position that is wrong or has the wrong sign;
/// - a wrong motor gain, mass, centre of mass or moment of inertia that is not estimated;
/// - an end stop that is elsewhere;
/// - friction that the description lacks, or that creeps where it should hold;
/// - air drag on bodies that are carried by others.
///
/// Moments of inertia come before a gain, length or clock error that improves the fit equally,
/// since they are rarely measured. A gain comes before a mass, and a mass before a clock error.
///
/// Causes that free parameters absorb (a clock error if every force is estimated) do not improve
/// the fit and are not reported.
///
/// Returns nothing if residuals match the noise, or for parameters of a SPOOK simulator.
std::vector<Finding> find_misfit_causes(const Calibration& calibration, const Mechanism& mechanism,
                                        const std::vector<Recording>& recordings,
                                        const CalibrationMonitor& monitor = {});

}  // namespace estimator
