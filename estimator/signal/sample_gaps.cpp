#include "estimator/signal/sample_gaps.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace estimator {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

constexpr double kRowsBeforeReleaseMax = 3.0;  // longest gap with a changing command
constexpr double kCommandChange = 0.1;         // of the largest, that counts as constant
constexpr double kHeldChange = 0.01;           // of the largest: step of a command that is held
constexpr double kUnlike = 5.0;                // times the curvature beside a gap: a step
constexpr double kAlike = 0.5;    // largest relative difference of curvatures, if smooth
constexpr double kSlight = 0.02;  // of its curvature: tolerated effect of more rows

/// Largest second difference.
double bend_of(const NeighbourCommands& side) {
  double bend = 0.0;
  for (std::size_t k = 2; k < side.size(); ++k) {
    bend = std::max(bend, std::abs(side[k] - 2.0 * side[k - 1] + side[k - 2]));
  }
  return bend;
}

double slope_of(const NeighbourCommands& side) { return side.size() > 1 ? side[1] - side[0] : 0.0; }

/// A command on both sides of a gap: values of the rows before and after it, which are `apart` rows
/// apart, and slopes to the next known rows, `away_…` rows farther (NaN: none).
struct HoleEnds {
  double before, after, apart, slope_before, slope_after, away_before = 1.0, away_after = 1.0;

  double secant() const { return (after - before) / apart; }
  /// Second divided differences over the gap and the rows beside it.
  double bend_in() const { return (secant() - slope_before) / (apart + away_before); }
  double bend_out() const { return (slope_after - secant()) / (apart + away_after); }
};

/// Whether the curvatures before and after the gap are similar: the command is smooth.
bool is_smooth(const HoleEnds& ends) {
  const double in = ends.bend_in(), out = ends.bend_out();
  return std::abs(out - in) <= kAlike * std::max(std::abs(in), std::abs(out));
}

/// Slope of a monotone cubic between two secants [Fri84]: zero at an extremum, or beside a step of
/// a piecewise constant command.
double monotone_slope(double left, double right) {
  return left * right > 0.0 ? 2.0 * left * right / (left + right) : 0.0;
}

/// Value at the fraction `share` of the gap, by the cubic through two rows on either side.
double cubic(const HoleEnds& ends, double share) {
  const double x = share * ends.apart, rest = ends.apart - x;
  const double third =
      (ends.bend_out() - ends.bend_in()) / (ends.apart + ends.away_before + ends.away_after);
  return ends.before + x * ends.secant() -
         x * rest * (ends.bend_in() + third * (x + ends.away_before));
}

/// The same by a monotone cubic.
double monotone(const HoleEnds& ends, double share) {
  const double secant = ends.secant();
  const double in =
      std::isnan(ends.slope_before) ? secant : monotone_slope(ends.slope_before, secant);
  const double out =
      std::isnan(ends.slope_after) ? secant : monotone_slope(secant, ends.slope_after);
  const double left = 1.0 - share;
  return ends.before + share * share * (3.0 - 2.0 * share) * (ends.after - ends.before) +
         ends.apart * share * left * (left * in - share * out);
}

bool is_missing(const std::vector<SampleGap>& holes, Eigen::Index row) {
  const auto behind = std::ranges::upper_bound(holes, row, {}, &SampleGap::first);
  return behind != holes.begin() && row < std::prev(behind)->first + std::prev(behind)->missing;
}

/// Known rows on either side of a gap, at most kCommandRowsPerSide each, in order.
std::vector<Eigen::Index> rows_beside(const std::vector<SampleGap>& holes, const SampleGap& hole,
                                      Eigen::Index rows) {
  std::vector<Eigen::Index> beside;
  for (int found = 0, k = 1; found < kCommandRowsPerSide && hole.first >= k; ++k) {
    if (is_missing(holes, hole.first - k)) continue;
    beside.insert(beside.begin(), hole.first - k);
    ++found;
  }
  Eigen::Index row = hole.first + hole.missing;
  for (int found = 0; found < kCommandRowsPerSide && row < rows; ++row) {
    if (is_missing(holes, row)) continue;
    beside.push_back(row);
    ++found;
  }
  return beside;
}

/// Value at a row of the polynomial through the given rows.
double through_rows(const Eigen::Ref<const Eigen::VectorXd>& command,
                    const std::vector<Eigen::Index>& rows, Eigen::Index at) {
  double value = 0.0;
  for (const Eigen::Index row : rows) {
    double weight = 1.0;
    for (const Eigen::Index other : rows) {
      if (other != row) {
        weight *= static_cast<double>(at - other) / static_cast<double>(row - other);
      }
    }
    value += weight * command[row];
  }
  return value;
}

/// Lower median of a command's curvatures between the given rows, so that a step has no effect.
double usual_bend(const Eigen::Ref<const Eigen::VectorXd>& command,
                  const std::vector<Eigen::Index>& rows) {
  std::vector<double> bends;
  for (std::size_t k = 2; k < rows.size(); ++k) {
    const auto slope = [&](std::size_t at) {
      return (command[rows[at]] - command[rows[at - 1]]) /
             static_cast<double>(rows[at] - rows[at - 1]);
    };
    bends.push_back(2.0 * std::abs(slope(k) - slope(k - 1)) /
                    static_cast<double>(rows[k] - rows[k - 2]));
  }
  if (bends.empty()) return 0.0;
  const auto middle = bends.begin() + static_cast<std::ptrdiff_t>((bends.size() - 1) / 2);
  std::ranges::nth_element(bends, middle);
  return *middle;
}

/// Returns whether a command does not change from row to row, such as one that is sent at a lower
/// rate than the readings. It then changes in steps, however small.
bool is_held(const NeighbourCommands& command) {
  return command.size() > 1 && command[0] == command[1];
}

}  // namespace

void update_command_change(const NeighbourCommands& before, const NeighbourCommands& after,
                           int missing, double largest, CommandChange& change) {
  if (!(largest > 0.0) || before.empty() || after.empty()) return;
  const double rise = after[0] - before[0];
  if (std::isnan(rise)) return;
  change.whole = std::max(change.whole, std::abs(rise) / largest);
  const double even = 0.5 * (missing + 1.0) * (slope_of(after) - slope_of(before));
  const double jump = std::abs(rise - even);
  change.is_step |=
      jump > kCommandChange * largest && jump > kUnlike * std::max(bend_of(before), bend_of(after));
  change.is_step |= jump > kHeldChange * largest && is_held(before) && is_held(after);
}

bool can_continue_across_gap(double duration, double missing, const CommandChange& change,
                             double read) {
  return duration <= kBridgedGapMax && missing <= read &&
         (missing <= kRowsBeforeReleaseMax ? !change.is_step : change.whole <= kCommandChange);
}

CommandChange command_change_between(const Segment& before, const Segment& after, int missing,
                                     const Eigen::RowVectorXd& largest) {
  CommandChange change;
  const Eigen::Index rows = before.controls.rows();
  for (Eigen::Index motor = 0; motor < largest.size(); ++motor) {
    NeighbourCommands ahead, behind;
    for (Eigen::Index k = 0; k < std::min<Eigen::Index>(kCommandRowsPerSide, rows); ++k) {
      ahead.push_back(before.controls(rows - 1 - k, motor));
    }
    for (Eigen::Index k = 0; k < std::min<Eigen::Index>(kCommandRowsPerSide, after.controls.rows());
         ++k) {
      behind.push_back(after.controls(k, motor));
    }
    update_command_change(ahead, behind, missing, largest[motor], change);
  }
  return change;
}

Eigen::RowVectorXd largest_absolute_controls(std::span<const Segment> segments) {
  Eigen::RowVectorXd largest = Eigen::RowVectorXd::Zero(segments.front().controls.cols());
  for (const Segment& segment : segments) {
    if (segment.controls.rows() == 0) continue;
    largest = largest.cwiseMax(segment.controls.cwiseAbs().colwise().maxCoeff());
  }
  return largest;
}

void interpolate_commands(const std::vector<SampleGap>& holes, Segment& segment) {
  for (std::size_t i = 0; i < holes.size(); ++i) {
    const auto [first, missing] = holes[i];
    const Eigen::Index before = first - 1, after = first + missing;
    const std::vector<Eigen::Index> beside = rows_beside(holes, holes[i], segment.controls.rows());
    // Row beyond the neighbouring gap, if that is adjacent.
    const bool is_alone_before = i == 0 || holes[i - 1].first + holes[i - 1].missing < before;
    const bool is_alone_after = i + 1 == holes.size() || after + 1 < holes[i + 1].first;
    const Eigen::Index far_before = is_alone_before ? before - 1 : holes[i - 1].first - 1;
    const Eigen::Index far_after =
        is_alone_after ? after + 1 : holes[i + 1].first + holes[i + 1].missing;
    for (Eigen::Index motor = 0; motor < segment.controls.cols(); ++motor) {
      auto command = segment.controls.col(motor);
      HoleEnds ends{.before = command[before],
                    .after = command[after],
                    .apart = missing + 1.0,
                    .slope_before = kUnknown,
                    .slope_after = kUnknown};
      if (far_before >= 0) {
        ends.away_before = static_cast<double>(before - far_before);
        ends.slope_before = (command[before] - command[far_before]) / ends.away_before;
      }
      if (far_after < command.size()) {
        ends.away_after = static_cast<double>(far_after - after);
        ends.slope_after = (command[far_after] - command[after]) / ends.away_after;
      }
      const double slight = kSlight * usual_bend(command, beside) * ends.apart * ends.apart;
      for (int k = 1; k <= missing; ++k) {
        const double share = k / ends.apart, near = cubic(ends, share);
        const double far = through_rows(command, beside, before + k);
        command[before + k] = std::abs(far - near) <= slight ? far
                              : is_smooth(ends)              ? near
                                                             : monotone(ends, share);
      }
    }
  }
}

Segment concatenate_segments(std::span<const Segment> segments, const std::vector<int>& missing) {
  Eigen::Index rows = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    assert(segments[i].times.empty());
    rows += missing[i] + segments[i].angles.rows();
  }
  Segment whole = segments.front();
  whole.angles.setConstant(rows, whole.angles.cols(), kUnknown);
  whole.controls.resize(rows, whole.controls.cols());
  const bool withholds = whole.held_out.rows() > 0, senses = whole.inertial.cols() > 0;
  if (withholds) whole.held_out.setConstant(rows, whole.held_out.cols(), kUnknown);
  if (senses) whole.inertial.setConstant(rows, whole.inertial.cols(), kUnknown);
  std::vector<SampleGap> holes;
  Eigen::RowVectorXd last_contacts;
  Eigen::Index row = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& part = segments[i];
    const Eigen::Index count = part.angles.rows();
    if (whole.contacts.cols() > 0) {  // contacts stay as they are during a gap
      whole.contacts.conservativeResize(row + missing[i] + count, Eigen::NoChange);
      if (i > 0) whole.contacts.middleRows(row, missing[i]).rowwise() = last_contacts;
      whole.contacts.bottomRows(count) = part.contacts;
      last_contacts = part.contacts.row(count - 1);
    }
    row += missing[i];
    whole.angles.middleRows(row, count) = part.angles;
    whole.controls.middleRows(row, count) = part.controls;
    if (withholds) whole.held_out.middleRows(row, count) = part.held_out;
    if (senses) whole.inertial.middleRows(row, count) = part.inertial;
    if (missing[i] > 0) holes.push_back({row - missing[i], missing[i]});
    row += count;
  }
  interpolate_commands(holes, whole);
  return whole;
}

}  // namespace estimator
