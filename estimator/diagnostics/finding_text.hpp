#pragma once

#include <string>

#include "estimator/diagnostics/jump_cause.hpp"
#include "estimator/diagnostics/signal_examination.hpp"
#include "estimator/diagnostics/steps.hpp"
#include "estimator/model/encoder.hpp"

namespace estimator {

/// Outliers of one sensor in one recording.
struct OutlierCount {
  int count = 0, readings = 0;
  double first = 0.0, last = 0.0;  ///< times of first and last outlier [s]
  double largest = 0.0;            ///< [rad or m]
  double noise = 0.0;              ///< of a reading [rad or m]
  double left = 0.0;               ///< residuals of all readings, 2-norm [rad or m]
};

/// Share of outliers above which they are not isolated; the readings are then used.
inline constexpr double kIsolatedShare = 0.05;

Finding outlier_finding(const Encoder& sensor, const std::string& recording,
                        const OutlierCount& outliers, SeriesKind kind);

/// Formats a length in a sensor's unit, with counts if quantized: "0.00767 rad (5 counts)".
std::string size_text(const Encoder& sensor, double size, double quantum);

/// Reports a slip of one encoder, as a note if its size is not significant.
/// @param deviation  standard deviation of `size`, 0: unknown
Finding slip_finding(const Encoder& sensor, const std::string& recording, double time, double size,
                     double deviation, double quantum);

/// Turns a warning into a note: the model is rejected even with this finding repaired.
void doubt(Finding& finding);

/// Describes the repair of lost rows.
std::string lost_rows_text(int rows);

/// Reports a jump at which the recording is cut.
/// @param sensors   one per view of the explanation
/// @param sensor    the sensor whose jump is reported
Finding cut_finding(const std::vector<Encoder>& sensors, int sensor, const std::string& recording,
                    double time, const JumpExplanation& explanation, double quantum);

}  // namespace estimator
