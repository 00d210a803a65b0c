#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Predicts the torque of every joint along the low-pass filtered motion by inverse dynamics, and
/// compares it with the recorded torque. A joint without motor has zero torque; its error is
/// compared with the inertial torque. Torques are averaged with test functions of 0.12 s
/// (ModulatedMotion). The expected error results from the noise of controls and readings. Times
/// near rest are left out, because dry friction is undetermined there.
///
/// Unlike errors of an open-loop simulation, these errors do not accumulate over time. They are
/// therefore also meaningful for joints whose controller depends on the measured angles [Gau13].
/// @param at     mechanism with the parameter values to assess
/// @param input  its filtered states were computed with the encoder offsets of `at`
/// @return empty for closed loops or joints without encoder
std::vector<TorquePrediction> predict_torques(const Mechanism& at, const ShootingInput& input,
                                              const CalibrationOptions& options);

/// Predicts torques with the parameters that a fit estimated jointly with the states.
/// @param start  mechanism with which the filtered states of `fit.input()` were computed
std::vector<TorquePrediction> predict_torques(const Mechanism& start, const ShootingFit& fit,
                                              const CalibrationOptions& options);

/// Predicts the readings from the jointly estimated states over each of `kPredictionHorizons`. The
/// expected error comes from a model linearized about the estimated motion, with noise of readings
/// and recorded controls, but without unmodelled accelerations.
/// @return ordered by encoder, then by horizon, without horizons longer than the longest segment.
///         Empty for closed loops, and if node intervals differ between segments.
std::vector<MotionPrediction> predict_motions(const ShootingFit& fit);

}  // namespace estimator
