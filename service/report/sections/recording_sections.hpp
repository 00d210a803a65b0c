#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "service/report/charts/svg_chart.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Largest number of trajectory values in a page, about 5 MB. For comparison, a recording of two
/// joints and a motor for 60 s at 1 kHz has 420 000 values.
inline constexpr std::size_t kPageNumbersMax = 1'000'000;

/// Labels and annotations of trajectory charts.
struct TrajectoryLabels {
  std::vector<std::string> joints;                ///< names of the measured joints
  std::vector<estimator::JointKind> kinds;        ///< joint types; missing ones are revolute
  std::vector<std::string> controls;              ///< labels of controls, e.g. "joint 1 [V]"
  std::vector<estimator::Finding> findings = {};  ///< highlighted if they have a time
  std::vector<RejectedReading> held = {};         ///< rejected samples
};

/// Returns the faulty samples of a sensor at the times `times`; NaN at a time without a faulty
/// sample. Empty if there is none in the whole interval. Rejected samples that only repeat another
/// sample are correct, and are written to `measured` instead.
/// @param measured  samples of the sensor at these times; NaN where there is none
std::vector<double> find_faulty_samples(const std::vector<double>& times,
                                        const std::vector<RejectedReading>& held,
                                        const std::string& recording, Eigen::Index sensor,
                                        std::vector<double>& measured);

/// Returns a chart series of the rejected samples of a sensor.
/// @param unit  unit of the values, e.g. "[rad]"
ChartSeries make_rejected_sample_series(const std::vector<double>& times,
                                        std::vector<double> values, const std::string& sensor,
                                        const std::string& unit);

/// Returns highlighted time intervals of a chart for the findings about a recording or one of its
/// sensors, within the interval of `times`.
std::vector<ChartHighlight> make_finding_highlights(const std::vector<estimator::Finding>& findings,
                                                    const std::string& recording,
                                                    const std::string& sensor,
                                                    const std::vector<double>& times);

/// Returns HTML sections for the first 24 segments. Each section has one figure with the measured
/// and simulated angles, their differences, and the controls.
/// @param numbers_max  largest total number of values; more data are reduced
std::string render_trajectory_sections(
    const std::vector<estimator::SegmentTrajectory>& trajectories, const TrajectoryLabels& labels,
    std::size_t numbers_max = kPageNumbersMax);

/// Returns an HTML section on the recorded data. For each recording it shows sampling rate, clock
/// error, jitter, and the numbers of used, omitted and missing samples. A time line and a list show
/// segments and gaps.
std::string render_data_section(const CalibrationMetadata& context);

}  // namespace service
