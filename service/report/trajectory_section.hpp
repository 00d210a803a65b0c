#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "service/report/svg_chart.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Numbers of trajectories that a page holds at most: 5 MB. A recording of 60 s at 1 kHz of two
/// hinges and a motor has 420 000.
inline constexpr std::size_t kPageNumbersMax = 1'000'000;

/// What the columns of trajectories are.
struct TrajectoryLabels {
  std::vector<std::string> hinges;                ///< names of the measured hinges
  std::vector<estimator::JointKind> kinds;        ///< of the hinges; beyond the last: revolute
  std::vector<std::string> controls;              ///< of the motors, e.g. "hinge 1 [V]"
  std::vector<estimator::Finding> findings = {};  ///< marked where they have a place in time
  std::vector<HeldReading> held = {};             ///< drawn as points
};

/// Points where readings were held back, on the rows of such times; NaN elsewhere. Empty where none
/// of the sensor's lies there.
std::vector<double> held_on(const std::vector<double>& times, const std::vector<HeldReading>& held,
                            const std::string& recording, Eigen::Index sensor);

/// The series of those; `unit` of its values, "[rad]".
ChartSeries held_series(const std::vector<double>& times, std::vector<double> values,
                        const std::string& sensor, const std::string& unit);

/// Stretches of `times` in which something was found of a recording, about one sensor or about all.
std::vector<ChartMark> marks_of(const std::vector<estimator::Finding>& findings,
                                const std::string& recording, const std::string& sensor,
                                const std::vector<double>& times);

/// A section for each segment, the first 24: measured and simulated angles, their difference and
/// the control, as one figure.
/// @param numbers_max  of all of them together; beyond it the data are reduced
std::string trajectory_sections(const std::vector<estimator::SegmentTrajectory>& trajectories,
                                const TrajectoryLabels& labels,
                                std::size_t numbers_max = kPageNumbersMax);

}  // namespace service
