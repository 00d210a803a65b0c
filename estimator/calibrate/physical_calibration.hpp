#pragma once

#include <optional>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "estimator/fit/fit_options.hpp"

namespace estimator {

/// Parameters of the physical system (EstimateKind::kPhysical), by multiple shooting in continuous
/// time (ShootingProblem), in three stages:
///
/// 1. short intervals and a generous process noise, with parameters that the data hardly see held
///    near their start; where that ends far from the readings, once more from the parameters that
///    still shorter intervals give;
/// 2. the process noise as small as the data allow, found with the readings' noise from the
///    residuals (variance components);
/// 3. where the motion can be predicted from its start, the fit of the open-loop simulation itself,
///    which knows nothing of controls that acted otherwise than recorded (Hinge::control_noise).
///
/// Parameters that 2 or 3 drive to a bound get a second chance from their start.
///
/// As `calibrate`.
Calibration calibrate_physical(const Mechanism& mechanism, const std::vector<Recording>& recordings,
                               const CalibrationOptions& options,
                               const CalibrationMonitor& monitor);

/// The mechanism with parameters from stages 1 and 2; nothing where these do not converge. For
/// mechanisms and recordings that `can_shoot`.
std::optional<Mechanism> approach_physically(const Mechanism& mechanism,
                                             const std::vector<Recording>& recordings,
                                             const CalibrationOptions& options,
                                             const CalibrationMonitor& monitor);

/// The same with every parameter kept at its value in `estimate`; as `evaluate`.
///
/// @param rig  what the input is checked against: an estimate may be no possible body (the
///             calibration's notes say so) and still predict
Evaluation evaluate_physical(const Mechanism& rig, const Mechanism& estimate,
                             const std::vector<Recording>& recordings,
                             const CalibrationOptions& options, const CalibrationMonitor& monitor);

}  // namespace estimator
