#pragma once

#include <optional>
#include <vector>

#include "estimator/calibrate/calibration.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// What a model has of one sensor at an end of a segment [rad or m; per row; per row²].
struct ModelledEnd {
  double value, rate, bend;
};

/// The ends on both sides of a cut, one a sensor.
struct CutEnds {
  std::vector<ModelledEnd> before, after;
};

/// @param behind  index of the segment behind the cut
/// @return nothing where a segment has no model
std::optional<CutEnds> ends_at_cut(const Calibration& calibration, const Recording& recording,
                                   int behind);

}  // namespace estimator
