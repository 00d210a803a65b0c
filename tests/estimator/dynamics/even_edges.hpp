#pragma once

#include <vector>

namespace estimator {

/// Returns the start and end times of `count` steps of equal length [s], in the form that
/// SegmentControls expects.
inline std::vector<double> even_edges(double step, int count) {
  std::vector<double> edges;
  for (int k = 0; k <= count; ++k) edges.push_back(k * step);
  return edges;
}

}  // namespace estimator
