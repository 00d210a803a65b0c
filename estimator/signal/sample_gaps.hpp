#pragma once

#include <span>
#include <vector>

#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Longest gap of missing rows across which the state of a segment continues [s]. During this time
/// the motion can be predicted, and the readings after the gap confirm the prediction.
inline constexpr double kBridgedGapMax = 0.2;

/// Largest number of command values used on each side of a gap, ordered from the gap outward.
inline constexpr int kCommandRowsPerSide = 4;
using NeighbourCommands = std::vector<double>;

/// Largest change of any motor's command across a gap, relative to the largest value of that
/// command.
struct CommandChange {
  double whole = 0.0;    ///< change from the row before the gap to the row after it
  bool is_step = false;  ///< command step at an unknown time in the gap
};
void update_command_change(const NeighbourCommands& before, const NeighbourCommands& after,
                           int missing, double largest, CommandChange& change);

/// Returns whether the state can be continued across missing rows. The command in the gap is
/// unknown. It must have changed little, or, in a short gap, without a step.
///
/// @param duration time from the row before the gap to the row after it [s]
/// @param missing  number of rows
/// @param read     number of rows of the segment so far, which is the upper limit of `missing`.
///     Without this limit, a small file could request any amount of memory
bool can_continue_across_gap(double duration, double missing, const CommandChange& change,
                             double read);

/// Returns the change of the commands from the last row of one segment to the first row of the next
/// segment.
/// @param largest  largest absolute command of each motor
CommandChange command_change_between(const Segment& before, const Segment& after, int missing,
                                     const Eigen::RowVectorXd& largest);

/// Returns the largest absolute command of every motor over all segments.
Eigen::RowVectorXd largest_absolute_controls(std::span<const Segment> segments);

/// Missing rows in a segment.
struct SampleGap {
  Eigen::Index first;
  int missing;
};

/// Interpolates the commands of missing rows. Next to a command step it uses a monotone cubic
/// [Fri84]. Otherwise it uses the cubic through two rows on either side of the gap; if the
/// polynomial through four rows on either side differs only slightly from this cubic, it uses this
/// polynomial. A constant command would delay the interpolated command, and a fit would attribute
/// the delay to friction.
/// @param holes  gaps in order of time; rows exist before and after each gap
void interpolate_commands(const std::vector<SampleGap>& holes, Segment& segment);

/// Joins consecutive segments to one segment. The segments must have no encoder shifts, and must
/// share one uniform clock. The missing rows before each segment get NaN readings and interpolated
/// commands.
/// @param missing  number of missing rows before each segment; 0 for the first segment
Segment concatenate_segments(std::span<const Segment> segments, const std::vector<int>& missing);

}  // namespace estimator
