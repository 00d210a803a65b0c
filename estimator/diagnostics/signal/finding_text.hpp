#pragma once

#include <string>

#include "estimator/diagnostics/jumps/jump_cause.hpp"
#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "estimator/model/encoder.hpp"

namespace estimator {

/// Statistics of the outliers of one sensor in one recording.
struct OutlierStatistics {
  int count = 0, readings = 0;
  double first = 0.0, last = 0.0;  ///< times of first and last outlier [s]
  double largest = 0.0;            ///< largest outlier [rad or m]
  double noise = 0.0;              ///< noise of a reading [rad or m]
  double left = 0.0;               ///< 2-norm of the residuals of all readings [rad or m]
};

Finding make_outlier_finding(const Encoder& sensor, const std::string& recording,
                             const OutlierStatistics& outliers, SeriesKind kind);

/// Returns a finding about a slip of one encoder; a note if the size is not significant.
/// @param deviation  standard deviation of `size`; 0 if unknown
Finding make_slip_finding(const Encoder& sensor, const std::string& recording, double time,
                          double size, double deviation, double quantum);

/// Turns a warning into a note. Used if the model is rejected even after the repair.
void downgrade_to_note(Finding& finding);

/// Returns a finding about a jump of readings at which the recording is cut.
/// @param sensors   sensors of `explanation`, in its order
/// @param sensor    index of the sensor whose jump is reported
Finding make_cut_finding(const std::vector<Encoder>& sensors, int sensor,
                         const std::string& recording, double time,
                         const JumpExplanation& explanation, double quantum);

}  // namespace estimator
