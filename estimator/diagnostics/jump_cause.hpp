#pragma once

#include <vector>

#include "estimator/diagnostics/noise_scale.hpp"
#include "estimator/diagnostics/reading_series.hpp"

namespace estimator {

/// Cause of a jump of readings at one instant.
enum class JumpCause {
  kSlip,       ///< an encoder lost or gained counts: its readings are shifted from there on
  kLostTime,   ///< the logger lost time unnoticed: the motion is further on
  kAmbiguous,  ///< either; readings cannot distinguish them
  kBreak,      ///< neither: the motion after it is unrelated
};

/// Readings of one sensor around a jump.
struct JumpView {
  const ReadingSeries* series = nullptr;
  /// Modelled speed at each reading [rad/s] if `series` holds residuals; nullptr if `series` is the
  /// motion itself.
  const std::vector<double>* rates = nullptr;
  double noise = 0.0;    ///< of readings, including quantization [rad or m]
  bool jumps = false;    ///< a step was found in it
  std::size_t position;  ///< in the series: the first reading after the jump
};

/// The likeliest explanation of a jump.
struct JumpExplanation {
  JumpCause cause = JumpCause::kAmbiguous;
  double confidence = 0.0;      ///< probability of the cause among those compared
  double lost_time = 0.0;       ///< that fits the jumps best [s]; > 0
  double time_deviation = 0.0;  ///< standard deviation of `lost_time` [s]
  std::vector<double> sizes;    ///< step of each view [rad or m]; 0 if it does not jump
  std::vector<double> deviations;
  std::vector<double> rates_before, rates_after;  ///< of the motion, one per view [rad/s]
};

/// Compares three hypotheses for all sensors together: one smooth motion whose clock jumps (every
/// sensor advances by its motion in the lost time), one smooth motion with shifted readings in the
/// sensors that jump, and two independent motions. Compares their likelihoods [Bas93, ch. 7] with a
/// penalty of log N per parameter [Sch78]. For a single sensor the speed separates the first two,
/// since lost time changes it too.
JumpExplanation classify_jump(const std::vector<JumpView>& views);

}  // namespace estimator
