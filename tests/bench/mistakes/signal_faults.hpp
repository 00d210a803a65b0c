#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/bench/rigs/random_rigs.hpp"

namespace signal_faults {

/// What a finding has to say of a fault's size.
enum class SizeKind { kNone, kCounts, kTime };

/// Something that happens to a recording, to the last sensor or to all.
struct SignalFault {
  std::string name;
  std::vector<std::string> kinds;  ///< of findings that tell it; none: it is told by an import
  SizeKind size_kind = SizeKind::kNone;
  double size = 0.0;  ///< [counts] or [s]
  /// @param row  at which it happens, where it does at one
  std::function<void(estimator::Segment&, Eigen::Index row, double quantum)> apply = {};
  /// Marks as missing what its readings no longer tell, as the best of all treatments would; none:
  /// nothing is lost.
  std::function<void(estimator::Segment&)> empty = {};

  /// In what findings state it in [rad or m, s]; lost time in whole rows.
  double size_in(const estimator::Segment& segment, double quantum) const;
};

/// Slips, lost time, spikes, clipped readings, a dead channel.
const std::vector<SignalFault>& all();

/// Kinds of findings that tell of signals: an alarm where nothing was planted.
bool is_of_signals(const std::string& kind);

/// A row at which the last sensor is faster than its root mean square speed.
Eigen::Index lively_row(const estimator::Segment& segment, unsigned seed);

/// The quantum that the last sensor's readings show [rad or m].
double last_quantum(const random_rigs::RandomRig& rig);

/// A recording without a share of its rows, here and there.
struct DroppedRows {
  estimator::Recording absent;   ///< as it comes from a file that lacks them
  estimator::Recording emptied;  ///< from one that has them without readings
};
DroppedRows drop_rows(const random_rigs::RandomRig& rig, double share, unsigned seed);

}  // namespace signal_faults
