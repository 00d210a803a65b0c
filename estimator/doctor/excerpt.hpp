#pragma once

#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// How much of the recordings is looked at.
struct ExcerptBudget {
  double duration = 4.0;  ///< of all pieces together [s]
  double piece = 1.0;     ///< of one [s]
  double period = 0.01;   ///< samples are thinned to about this, never below their own [s]
  int rows = 400;         ///< of all pieces together, at most
};

/// The liveliest pieces of the recordings, thinned: those in which joints and controls are busiest,
/// in order of time. A control is averaged over what a row stands for.
///
/// Recordings without any segment of ten rows give nothing.
std::vector<Recording> take_excerpts(const Mechanism& mechanism,
                                     const std::vector<Recording>& recordings,
                                     const ExcerptBudget& budget);

}  // namespace estimator
