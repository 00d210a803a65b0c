#pragma once

#include <optional>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "estimator/fit/fit_options.hpp"

namespace estimator {

/// Estimates physical parameters (EstimateKind::kPhysical) by multiple shooting in continuous time
/// (ShootingProblem), in three stages:
///
/// 1. Short intervals and a large process noise, with weakly identifiable parameters held near
///    their initial values. If this ends far from the readings, restarts from parameters
///    estimated on still shorter intervals.
/// 2. The smallest process noise that the data allow, estimated together with the reading noise
///    from the residuals (variance components).
/// 3. If the motion can be predicted from its start, a fit of the open-loop simulation, which does
///    not model controls that acted otherwise than recorded (Joint::control_noise).
///
/// Parameters that stage 2 or 3 drives to a bound are restarted once from their initial value. As
/// `calibrate`.
Calibration calibrate_physical(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                               const CalibrationOptions& options,
                               const CalibrationMonitor& monitor);

/// Returns the mechanism with the parameters of stages 1 and 2; nothing if these do not converge.
/// For mechanisms and recordings with `can_shoot`.
std::optional<Mechanism> estimate_physical_initial_values(const Mechanism& mechanism,
                                                          const std::vector<Recording>& recordings,
                                                          const CalibrationOptions& options,
                                                          const CalibrationMonitor& monitor);

/// Evaluates `estimate` with all parameters fixed; as `evaluate`.
///
/// @param rig  checks the input: an estimate with inconsistent inertia (see the calibration's
///             notes) may still predict well
Evaluation evaluate_physical(const Mechanism& rig, const Mechanism& estimate,
                             const std::vector<Recording>& recordings,
                             const CalibrationOptions& options, const CalibrationMonitor& monitor);

}  // namespace estimator
