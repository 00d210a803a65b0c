#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Searches for the cause of residuals above the sensor noise. Fits each likely cause, starting
/// from the estimate, to short excerpts of the recordings. Reports the cause that improves the fit
/// most, with its size, standard deviation and improvement, or that no cause improves it. The
/// causes are:
///
/// - a command that acts later or earlier than recorded, or is clipped by the amplifier;
/// - a clock that is fast or slow;
/// - readings clipped at an end of an encoder's range;
/// - a joint position that is wrong or has the wrong sign;
/// - a wrong motor gain, mass, centre of mass or moment of inertia that is not estimated;
/// - an end stop at another position;
/// - joints that creep instead of sticking;
/// - a term that the description lacks (try_missing_terms).
///
/// If errors grow over many seconds, terms that act slowly are tested first, in long excerpts.
///
/// Among causes that improve the fit equally, moments of inertia precede a gain, length or clock
/// error, since they are rarely measured. A gain precedes a mass, and a mass a clock error.
///
/// Causes that free parameters absorb (a clock error if every force is estimated) do not improve
/// the fit and are not reported.
///
/// Returns nothing if residuals match the noise, or for parameters of a SPOOK simulator.
std::vector<Finding> find_misfit_causes(const Calibration& calibration, const Mechanism& mechanism,
                                        const std::vector<Recording>& recordings,
                                        const CalibrationMonitor& monitor = {});

}  // namespace estimator
