#pragma once

#include <vector>

#include "estimator/doctor/reading_series.hpp"
#include "estimator/doctor/signal_scale.hpp"

namespace estimator {

/// Why readings jump at one instant.
enum class StepCause {
  kSlip,      ///< an encoder lost or gained counts: its readings are shifted since
  kLostTime,  ///< the logger lost time without saying: the motion is further on
  kUnclear,   ///< either; readings cannot tell
  kBreak,     ///< neither: the motion after it is another one
};

/// What one sensor read around a jump.
struct JumpView {
  const ReadingSeries* series = nullptr;
  /// Speeds beside each reading [rad/s], of a model that `series` is what is left of; nullptr: the
  /// series is the motion itself.
  const std::vector<double>* rates = nullptr;
  double noise = 0.0;    ///< of readings, with that of counting [rad or m]
  bool jumps = false;    ///< a step was found in it
  std::size_t position;  ///< in the series: the first reading behind the jump
};

/// The likelier explanation of a jump.
struct StepExplanation {
  StepCause cause = StepCause::kUnclear;
  double confidence = 0.0;      ///< that it is the cause, among those looked at
  double lost_time = 0.0;       ///< that explains the jumps best [s]; > 0
  double time_deviation = 0.0;  ///< of it [s]
  std::vector<double> sizes;    ///< of each view's step [rad or m]; 0 where it does not jump
  std::vector<double> deviations;
  std::vector<double> rates_before, rates_after;  ///< of the motion, one a view [rad/s]
};

/// Compares, for all sensors together, one smooth motion whose clock jumps (every sensor moves on
/// by as much as it does in the time lost), one whose reading jumps in the sensors that do, and two
/// motions that know nothing of one another, by their likelihoods [Bas93, ch. 7] with log N for
/// every parameter [Sch78]. A single sensor tells the first two apart by its speed, which a lost
/// time changes too.
StepExplanation explain_step(const std::vector<JumpView>& views);

}  // namespace estimator
