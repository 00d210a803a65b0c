#pragma once

#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Fewest time steps of a segment that is used.
inline constexpr int kSegmentNodesMin = 10;

/// Most time steps of all recordings together that may be asked for.
inline constexpr double kTimeStepsMax = 1e7;

/// Checks that mechanism and recordings are sound and belong together.
/// @throws std::invalid_argument naming what is wrong and what to do
void check_input(const Mechanism& mechanism, const std::vector<Recording>& recordings);

/// Checks that every choice is a number in its range, and that a step asked for cuts the longest
/// segment into 10 steps or more and all recordings into at most kTimeStepsMax.
/// @throws std::invalid_argument naming the choice and what to do
void check_options(const CalibrationOptions& options, const std::vector<Recording>& recordings);

/// Whether any angle leaves the first one it was seen at.
bool anything_moves(const std::vector<Recording>& recordings);

/// @throws std::invalid_argument where no angle ever changes
void require_motion(const std::vector<Recording>& recordings);

}  // namespace estimator
