#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "estimator/calibrate/calibration.hpp"

namespace service {

/// Numbers of trajectories that a page holds at most: 5 MB. A recording of 60 s at 1 kHz of two
/// hinges and a motor has 420 000.
inline constexpr std::size_t kPageNumbersMax = 1'000'000;

/// What the columns of trajectories are.
struct TrajectoryLabels {
  std::vector<std::string> hinges;              ///< names of the measured hinges
  std::vector<estimator::JointKind> kinds;      ///< of the hinges; beyond the last: revolute
  std::vector<std::string> controls;            ///< of the motors, e.g. "hinge 1 [V]"
  std::vector<estimator::Finding> findings = {};  ///< marked where they have a place in time
};

/// A section for each segment, the first 24: measured and simulated angles, their difference and
/// the control, as one figure.
/// @param numbers_max  of all of them together; beyond it the data are reduced
std::string trajectory_sections(const std::vector<estimator::SegmentTrajectory>& trajectories,
                                const TrajectoryLabels& labels,
                                std::size_t numbers_max = kPageNumbersMax);

}  // namespace service
