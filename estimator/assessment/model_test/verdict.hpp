#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "estimator/assessment/calibration.hpp"

namespace estimator {

/// Ratio of residuals to sensor noise above which a model is doubtful.
inline constexpr double kDoubtfulResidualRatio = 1.5;

/// The residuals of one encoder, compared with its noise and with the measured motion.
struct SensorFitQuality {
  std::string name;
  double noise = 0.0;  ///< reading noise, from differences of readings or from quantization
  /// Root-mean-square residual of the last successful estimation stage, in the unit of `noise`.
  double residual = 0.0;
  double motion = 0.0;       ///< standard deviation of the readings, in the unit of `noise`
  double unexplained = 0.0;  ///< unexplained share of the motion, see `assess_sensor_fits`
  bool correlated = false;   ///< residuals are more correlated than quantization explains
};

/// Computes the fit quality of each encoder from the trajectories of a calibration.
///
/// The unexplained share is the simulation error divided by the standard deviation of the motion.
/// If the motion cannot be predicted from its initial state (for example near an upright balance),
/// the share is instead computed from accelerations over short intervals. It is 0 for a sensor
/// whose error is at noise level.
std::vector<SensorFitQuality> assess_sensor_fits(const Calibration& calibration);

/// Returns whether the model leaves more than one third of an encoder's motion unexplained. The
/// cause is usually a wrong unit, sign, zero or geometry, not a wrong parameter value. For
/// correctly described rigs this share is below a few hundredths.
bool is_motion_unexplained(const SensorFitQuality& fit);

/// Returns a phrase for the share of the motion that the model does not explain, such as "93 % of
/// the motion".
Message describe_unexplained_share(double unexplained);

/// Judges whether the model of a calibration is accepted. Uses the unexplained share of the motion,
/// the ratio of residuals to noise, the autocorrelation of residuals, and the consistency between
/// parts of the recordings.
Verdict judge_model(const Calibration& calibration);

/// Returns "accepted", "doubtful", "approximate", "rejected" or "no-fit".
std::string_view to_string(VerdictKind kind);

}  // namespace estimator
