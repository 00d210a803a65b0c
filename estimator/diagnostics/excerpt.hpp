#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Limits on the length and sampling of excerpts.
struct ExcerptBudget {
  double duration = 4.0;  ///< of all excerpts together [s]
  double piece = 1.0;     ///< of one excerpt [s]
  double period = 0.01;   ///< target sampling period after decimation, never below the original [s]
  int rows = 400;         ///< limit for all excerpts together
};

/// Returns the decimated parts of the recordings in which joints and controls are most active, in
/// order of time. A control is averaged over the samples that its row replaces.
///
/// Returns nothing if no segment has ten rows.
std::vector<Recording> select_excerpts(const Mechanism& mechanism,
                                       const std::vector<Recording>& recordings,
                                       const ExcerptBudget& budget);

}  // namespace estimator
