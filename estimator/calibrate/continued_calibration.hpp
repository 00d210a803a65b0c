#pragma once

#include <map>
#include <optional>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// The calibration of a recording that still grows, from which `continue_calibration` continues.
struct ContinuedCalibration {
  /// A complete calibration, or a calibration with these members only: kind, parameters and their
  /// uncertainty, mechanism, simulation, angle_noise, step, refined, and refinement_*.
  Calibration calibration;
  /// Estimated states at the first sample of each segment, angles over rates. Keys are the start
  /// times of the segments [s]. Empty after a complete calibration.
  std::map<double, Eigen::VectorXd> initial_states = {};
};

/// Estimates physical parameters again after a recording has grown by a small part. Fits the
/// open-loop simulation with a few iterations, starting at the last parameters and initial states.
/// Parameters that the last complete calibration fixed or could not identify stay fixed. The only
/// test of the model is the size of its residuals.
/// @param rig   rig description with the free parameters
/// @param last  calibration of an earlier part of these recordings
/// @return nullopt if a complete calibration is needed: `last` is not the result of a simulation
///         fit, the fit does not converge, or the residuals exceed the sensor noise
/// @throws std::invalid_argument as `calibrate`
std::optional<ContinuedCalibration> continue_calibration(const Mechanism& rig,
                                                         const ContinuedCalibration& last,
                                                         const std::vector<Recording>& recordings,
                                                         const CalibrationOptions& options,
                                                         const CalibrationMonitor& monitor = {});

}  // namespace estimator
