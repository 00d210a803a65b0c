#pragma once

#include <optional>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "estimator/fit/fit_options.hpp"

namespace estimator {

/// Estimates physical parameters by multiple shooting in continuous time (ShootingProblem). Three
/// stages start from the given values, or from inverse dynamics (begin_shooting_fit):
///
/// 1. A fit over short shooting intervals with a large process noise, so that weakly identifiable
///    parameters stay near their initial values. If the fit ends far from the readings, it restarts
///    from parameters estimated on still shorter intervals.
/// 2. A fit with the smallest process noise that the data allow. This noise and the reading noise
///    are estimated from the residuals (variance components).
/// 3. A fit of the open-loop simulation, if the motion can be predicted from its initial state. It
///    is omitted if recorded controls have noise (Motor::control_noise), which it does not model.
///
/// Parameters that stage 2 or 3 drives to a bound are restarted once from their initial value.
/// Arguments and errors as for `calibrate`.
Calibration calibrate_physical(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                               const CalibrationOptions& options,
                               const CalibrationMonitor& monitor);

/// Returns the mechanism with the parameters that stages 1 and 2 of `calibrate_physical` estimate;
/// nullopt if the stages do not converge. Requires `is_shooting_supported`.
std::optional<Mechanism> estimate_physical_initial_values(const Mechanism& mechanism,
                                                          const std::vector<Recording>& recordings,
                                                          const CalibrationOptions& options,
                                                          const CalibrationMonitor& monitor);

/// Computes the prediction errors of the physical parameters in `estimate` on recordings, like
/// `evaluate_parameters`.
/// @param rig  rig description, used to check the input, since an estimate with inconsistent
///             inertia (see the calibration's notes) may still predict well
ParameterEvaluation evaluate_physical_parameters(const Mechanism& rig, const Mechanism& estimate,
                                                 const std::vector<Recording>& recordings,
                                                 const CalibrationOptions& options,
                                                 const CalibrationMonitor& monitor);

}  // namespace estimator
