#pragma once

#include <optional>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// What a model has of one sensor at an end of a segment [rad or m; per row, to the third power].
struct ModelledEnd {
  double value, rate, bend;
  double jerk = 0.0;  ///< of cubics
};

/// Through the last rows of a model: three that a parabola, four that a cubic follows.
enum class EndCurve { kParabola, kCubic };

/// The ends on both sides of a cut, one a sensor.
struct CutEnds {
  std::vector<ModelledEnd> before, after;
};

/// @param behind  index of the segment behind the cut
/// @return nothing where a segment has no model
std::optional<CutEnds> ends_at_cut(const Calibration& calibration, const Recording& recording,
                                   int behind, EndCurve curve = EndCurve::kParabola);

}  // namespace estimator
