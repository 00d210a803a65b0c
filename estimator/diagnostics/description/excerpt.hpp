#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Limits on the length and sampling of excerpts.
struct ExcerptLimits {
  double duration = 4.0;  ///< total duration of all excerpts [s]
  double piece = 1.0;     ///< duration of one excerpt [s]
  double period = 0.01;   ///< target sampling period after decimation, never below the original [s]
  int rows = 400;         ///< largest total number of samples of all excerpts
};

/// Returns the parts of the recordings in which joints and controls are most active, in order of
/// time and with a reduced sampling rate. Controls are averaged over the samples that one sample of
/// an excerpt replaces. Returns nothing if every segment has fewer than ten samples.
std::vector<Recording> select_excerpts(const Mechanism& mechanism,
                                       const std::vector<Recording>& recordings,
                                       const ExcerptLimits& budget);

}  // namespace estimator
