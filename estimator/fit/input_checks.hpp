#pragma once

#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Smallest number of time steps of a segment; shorter segments are not used.
inline constexpr int kSegmentNodesMin = 10;

/// Largest number of time steps of all recordings together.
inline constexpr double kTimeStepsMax = 1e7;

/// Checks that mechanism and recordings are valid and have the same sensors and motors.
/// @throws std::invalid_argument with the error and its remedy
void check_input(const Mechanism& mechanism, const std::vector<Recording>& recordings);

/// Checks that every calibration option is in its range. If a time step is given, the longest
/// segment must have at least 10 steps, and all recordings together at most kTimeStepsMax.
/// @throws std::invalid_argument that names the option and the remedy
void check_options(const CalibrationOptions& options, const std::vector<Recording>& recordings);

/// Returns whether any encoder reading differs from that encoder's first reading.
bool has_motion(const std::vector<Recording>& recordings);

/// Checks that the recordings contain motion.
/// @throws std::invalid_argument if no encoder reading ever changes
void require_motion(const std::vector<Recording>& recordings);

}  // namespace estimator
