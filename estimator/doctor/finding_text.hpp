#pragma once

#include <string>

#include "estimator/doctor/signal_examination.hpp"
#include "estimator/doctor/step_cause.hpp"
#include "estimator/doctor/steps.hpp"
#include "estimator/model/sensor.hpp"

namespace estimator {

/// Outliers of one sensor in one recording.
struct OutlierCount {
  int count = 0, readings = 0;
  double first = 0.0, last = 0.0;  ///< times of outliers [s]
  double largest = 0.0;            ///< [rad or m]
  double noise = 0.0;              ///< of a reading [rad or m]
  double left = 0.0;               ///< of all readings by a model, 2-norm [rad or m]
};

/// A share of false readings above which they are not isolated, and are used.
inline constexpr double kIsolatedShare = 0.05;

Finding outlier_finding(const Sensor& sensor, const std::string& recording,
                        const OutlierCount& outliers, SeriesKind kind);

/// A length in the unit of a sensor, with its counts where it counts: "0.00767 rad (5 counts)".
std::string size_text(const Sensor& sensor, double size, double quantum);

/// A slip of one encoder; a note that there may be one, where it is no more than it may be off.
/// @param deviation  of `size`, 0: not told
Finding slip_finding(const Sensor& sensor, const std::string& recording, double time, double size,
                     double deviation, double quantum);

/// Makes a note of a warning: what was found beside a model that does not hold with it either.
void doubt(Finding& finding);

/// What was done for rows that were lost.
std::string lost_rows_text(int rows);

/// A jump at which the recording is cut.
/// @param sensors   one a view of the explanation
/// @param sensor    the one whose jump is told
Finding cut_finding(const std::vector<Sensor>& sensors, int sensor, const std::string& recording,
                    double time, const StepExplanation& explanation, double quantum);

}  // namespace estimator
