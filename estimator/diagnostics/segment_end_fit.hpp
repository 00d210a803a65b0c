#pragma once

#include <optional>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Modelled value and derivatives of one sensor at an end of a segment [rad or m; per row, …,
/// row³].
struct SegmentEndFit {
  double value, rate, curvature;
  double jerk = 0.0;  ///< cubic fits only
};

/// Curve through the last rows of a model: a parabola through three, a cubic through four.
enum class EndCurve { kParabola, kCubic };

/// The ends on both sides of a cut, one per sensor.
struct CutEnds {
  std::vector<SegmentEndFit> before, after;
};

/// Fits curves to the modelled readings on both sides of a cut.
/// @param behind  index of the segment after the cut
/// @return nothing if a segment has no model
std::optional<CutEnds> ends_at_cut(const Calibration& calibration, const Recording& recording,
                                   int behind, EndCurve curve = EndCurve::kParabola);

}  // namespace estimator
