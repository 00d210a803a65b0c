#pragma once

#include <span>
#include <vector>

#include "estimator/signal/time_series.hpp"

namespace estimator {

/// Longest stretch without rows over which the state of a rig goes on [s]: as far as the motion is
/// predictable from its state, which the readings on the far side then tell.
inline constexpr double kHoleMax = 0.2;

/// Values of one motor's command on a side of a hole, the nearest to it first: so many, fewer where
/// the recording ends.
inline constexpr int kSideRows = 4;
using CommandSide = std::vector<double>;

/// What a command does from the row before a hole to the row after, of its largest value; the worst
/// of all motors.
struct CommandChange {
  double whole = 0.0;    ///< from row to row
  bool is_edge = false;  ///< jumps as it does nowhere beside: when, in the hole, nobody knows
};
void add_change(const CommandSide& before, const CommandSide& after, int missing, double largest,
                CommandChange& change);

/// Whether a recording goes on over missing rows. The command meanwhile is not known: it must not
/// have changed much, or gone on evenly if the hole is short.
///
/// @param duration from the row before to the row after [s]
/// @param missing  rows
/// @param read     rows of the segment so far, less those missing: no more may be missing than
///                 these, or a small file could ask for any amount of memory
bool goes_on(double duration, double missing, const CommandChange& change, double read);

/// The same from the last row of one segment to the first of the next.
/// @param largest  absolute command of each motor
CommandChange command_change(const Segment& before, const Segment& after, int missing,
                             const Eigen::RowVectorXd& largest);

/// Largest absolute command of every motor in all segments.
Eigen::RowVectorXd largest_controls(std::span<const Segment> segments);

/// Rows of a segment that a recording lacks.
struct Hole {
  Eigen::Index first;
  int missing;
};

/// Lets the commands of missing rows follow the polynomial through four rows on either side where
/// the cubic through two differs slightly from it, else that cubic where they are smooth, and a
/// monotone one [Fri84] beside edges. To hold them would delay them, which a fit
/// takes for friction.
/// @param holes  in order, with rows before and behind each
void draw_commands(const std::vector<Hole>& holes, Segment& segment);

/// One segment of several that follow one another on one even clock, with as many rows before each
/// as are missing there, without readings and with drawn commands.
/// @param missing  one a segment, the first 0
Segment joined(std::span<const Segment> segments, const std::vector<int>& missing);

/// Joins a segment to the one before it, over so many missing rows.
void join_to_last(std::vector<Segment>& segments, int segment, int missing);

}  // namespace estimator
