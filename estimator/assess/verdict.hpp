#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "estimator/assess/calibration.hpp"

namespace estimator {

/// Of one sensor, what the model leaves.
struct SensorFit {
  std::string name;
  double noise = 0.0;        ///< of its readings, from their differences or their quantum
  double residual = 0.0;     ///< RMSE where the estimates come from, in the unit of `noise`
  double unexplained = 0.0;  ///< share of the motion
  bool correlated = false;   ///< residuals are, and counting does not explain it
};

/// From the trajectories of a calibration.
///
/// What is left unexplained is the error of the simulation, of the motion's standard deviation;
/// where the motion cannot be predicted from its start (through the upright), the acceleration that
/// the model leaves over an interval, of the acceleration there is. It is 0 of a sensor whose error
/// is that of noise.
std::vector<SensorFit> sensor_fits(const Calibration& calibration);

/// Whether a sensor's motion is evidently not this model's: a wrong unit, sign, zero mark or
/// geometry leave so much more often than a wrong parameter. Beyond one third of the motion; a rig
/// with all of these right stays below a few hundredths.
bool is_unexplained(const SensorFit& fit);

/// "93 % of the motion", for people.
std::string share_text(double unexplained);

/// Judges the model by the shares of the motion that it explains, by its residuals beside the noise
/// of the readings, by their correlation, and by the agreement of pieces.
Verdict judge(const Calibration& calibration);

/// "holds", "doubtful", "does-not-hold", "explains-nothing".
std::string_view to_string(VerdictKind kind);

}  // namespace estimator
