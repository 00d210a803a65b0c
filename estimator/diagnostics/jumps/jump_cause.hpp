#pragma once

#include <vector>

#include "estimator/diagnostics/jumps/reading_series.hpp"

namespace estimator {

/// The cause of a jump of readings at one instant.
enum class JumpCause {
  kSlip,       ///< an encoder lost or gained counts, which shifts all later readings
  kLostTime,   ///< the logger missed some time, during which the motion went on
  kAmbiguous,  ///< the readings cannot distinguish a slip from lost time
  kBreak,      ///< neither; the motions before and after the jump are unrelated
};

/// The readings of one sensor around a jump.
struct ReadingsAroundJump {
  const ReadingSeries* series = nullptr;
  /// Modelled speed at each reading [rad/s] if `series` contains residuals; nullptr if it contains
  /// the measured motion.
  const std::vector<double>* rates = nullptr;
  double noise = 0.0;    ///< reading noise, including quantization [rad or m]
  bool jumps = false;    ///< a step was found in the readings of this sensor
  std::size_t position;  ///< index in the series of the first reading after the jump
};

/// The likeliest cause of a jump of readings, with the fitted lost time and jump sizes.
struct JumpExplanation {
  JumpCause cause = JumpCause::kAmbiguous;
  double confidence = 0.0;      ///< probability of the cause among those compared
  double lost_time = 0.0;       ///< lost time that fits all jumps best, > 0 [s]
  double time_deviation = 0.0;  ///< standard deviation of `lost_time` [s]
  std::vector<double> sizes;    ///< jump of each sensor [rad or m]; 0 if it does not jump
  std::vector<double> deviations;
  /// Speed before and after the jump, one per sensor [rad/s].
  std::vector<double> rates_before, rates_after;
};

/// Returns the likeliest cause of a jump. Compares three hypotheses for all sensors together. Lost
/// time: every sensor advances by its motion during this time. Slip: the motion is smooth, but
/// readings of the sensors that jump are shifted. Break: two independent motions. Compares their
/// likelihoods [Bas93, ch. 7] with a penalty of log N per parameter for N readings [Sch78]. For a
/// single sensor, lost time differs from a slip because it also changes the speed.
JumpExplanation classify_jump(const std::vector<ReadingsAroundJump>& views);

}  // namespace estimator
