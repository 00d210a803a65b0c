#pragma once

#include <optional>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// The modelled value of one sensor at an end of a segment [rad or m], and its derivatives [per
/// row, row² and row³].
struct SegmentEndFit {
  double value, rate, curvature;
  double jerk = 0.0;  ///< cubic fits only
};

/// The curve fitted to the last rows of a model: a parabola to three rows, a cubic to four.
enum class EndCurve { kParabola, kCubic };

/// Fitted segment ends before and after a cut in a recording, one per sensor.
struct CutEnds {
  std::vector<SegmentEndFit> before, after;
};

/// Fits curves to the modelled readings on both sides of a cut.
/// @param behind  index of the segment after the cut
/// @return nullopt if a segment has no model
std::optional<CutEnds> ends_at_cut(const Calibration& calibration, const Recording& recording,
                                   int behind, EndCurve curve = EndCurve::kParabola);

}  // namespace estimator
