#pragma once

#include <vector>

#include "estimator/signal/time_series.hpp"

namespace service {

/// Longest stretch without rows over which the state of a rig goes on [s]: as far as the motion is
/// predictable from its state, which the readings on the far side then tell.
inline constexpr double kHoleMax = 0.2;

/// Rows that are missing inside a recording, where it goes on.
struct Holes {
  int count = 0;
  int rows = 0;
};

/// Whether a recording goes on over missing rows. The command meanwhile is not known: it must not
/// have changed much, unless the hole is short.
///
/// @param duration from the row before to the row after [s]
/// @param missing  rows
/// @param change   of the command from before to after, of its largest value; of the worst motor
/// @param read     rows of the segment so far, less those missing: no more may be missing than
/// read,
///                 or a small file could ask for any amount of memory
bool goes_on(double duration, double missing, double change, double read);

/// Lets the command of missing rows, from `first` on, change evenly from the row before to the row
/// after. To hold it would delay it, which a fit takes for friction.
void draw_command(Eigen::Index first, int missing, estimator::Segment& segment);

/// Joins consecutive segments of one clock where the recording goes on. Missing rows become rows
/// without readings whose command changes evenly.
Holes join_segments(std::vector<estimator::Segment>& segments);

}  // namespace service
