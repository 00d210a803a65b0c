#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "estimator/assess/calibration.hpp"

namespace estimator {

/// Residuals of one sensor compared with its noise and its motion.
struct SensorFit {
  std::string name;
  double noise = 0.0;        ///< of its readings, from differences or quantization
  double residual = 0.0;     ///< RMSE of the estimation stage used, in the unit of `noise`
  double unexplained = 0.0;  ///< share of the motion
  bool correlated = false;   ///< residuals are correlated beyond quantization
};

/// Computes the fit of each sensor from the trajectories of a calibration.
///
/// The unexplained share is the simulation error over the motion's standard deviation. If the
/// motion cannot be predicted from its start (through the upright), it is the share of the
/// acceleration that the model leaves over an interval. It is 0 for a sensor whose error is at
/// noise level.
std::vector<SensorFit> sensor_fits(const Calibration& calibration);

/// Returns whether the model evidently does not fit a sensor's motion, that is if more than one
/// third is unexplained: mostly due to a wrong unit, sign, zero or geometry, not to a wrong
/// parameter value. Correctly described rigs stay below a few hundredths.
bool is_unexplained(const SensorFit& fit);

/// Formats an unexplained share for messages: "93 % of the motion".
std::string share_text(double unexplained);

/// Assesses the model by the unexplained motion, by residuals relative to the noise and their
/// autocorrelation, and by the consistency of parts of the recordings.
Verdict judge(const Calibration& calibration);

/// Returns "accepted", "doubtful", "rejected" or "no-fit".
std::string_view to_string(VerdictKind kind);

}  // namespace estimator
