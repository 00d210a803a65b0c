#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "service/report/svg_chart.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Maximum number of trajectory values in a page: 5 MB. A recording of 60 s at 1 kHz of two joints
/// and a motor has 420 000.
inline constexpr std::size_t kPageNumbersMax = 1'000'000;

/// Labels and annotations of trajectories.
struct TrajectoryLabels {
  std::vector<std::string> joints;                ///< names of the measured joints
  std::vector<estimator::JointKind> kinds;        ///< of these joints; missing ones are revolute
  std::vector<std::string> controls;              ///< of the motors, e.g. "joint 1 [V]"
  std::vector<estimator::Finding> findings = {};  ///< marked if they have a time
  std::vector<RejectedReading> held = {};         ///< rejected samples, drawn as points
};

/// Returns the rejected samples of a sensor on the rows of `times`, NaN elsewhere. Empty if there
/// are none in this time.
std::vector<double> rejected_samples_on(const std::vector<double>& times,
                                        const std::vector<RejectedReading>& held,
                                        const std::string& recording, Eigen::Index sensor);

/// Returns a series of rejected samples; `unit` of its values, e.g. "[rad]".
ChartSeries rejected_series(const std::vector<double>& times, std::vector<double> values,
                            const std::string& sensor, const std::string& unit);

/// Intervals of `times` with findings about a recording as a whole or about one sensor.
std::vector<ChartMark> marks_of(const std::vector<estimator::Finding>& findings,
                                const std::string& recording, const std::string& sensor,
                                const std::vector<double>& times);

/// Sections for the first 24 segments: measured and simulated angles, their difference and the
/// control, in one figure each.
/// @param numbers_max  total number of values; beyond it the data are reduced
std::string trajectory_sections(const std::vector<estimator::SegmentTrajectory>& trajectories,
                                const TrajectoryLabels& labels,
                                std::size_t numbers_max = kPageNumbersMax);

}  // namespace service
