#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/bench/rigs/random_rigs.hpp"

namespace signal_faults {

/// How a finding states a fault's size.
enum class SizeKind { kNone, kCounts, kTime };

/// A fault of a recording, of the last sensor or of all.
struct SignalFault {
  std::string name;
  std::vector<std::string> kinds;  ///< of findings that report it; empty: reported by the import
  SizeKind size_kind = SizeKind::kNone;
  double size = 0.0;  ///< [counts] or [s]
  /// @param row  at which it occurs, if it has a row
  std::function<void(estimator::Segment&, Eigen::Index row, double quantum)> apply = {};
  /// Marks readings as missing whose information is lost, as the best possible treatment would;
  /// none: nothing is lost.
  std::function<void(estimator::Segment&)> empty = {};

  /// In the unit of the findings [rad or m, s]; lost time in whole rows.
  double size_in(const estimator::Segment& segment, double quantum) const;
};

/// Slips, lost time, spikes, clipped readings, a dead channel.
const std::vector<SignalFault>& all();

/// Kinds of findings about signals: a false alarm without an injected fault.
bool is_of_signals(const std::string& kind);

/// A row at which the last sensor is faster than its root mean square speed.
Eigen::Index lively_row(const estimator::Segment& segment, unsigned seed);

/// The quantum found in the last sensor's readings [rad or m].
double last_quantum(const random_rigs::RandomRig& rig);

/// A recording without a fraction of its rows, at random places.
struct DroppedRows {
  estimator::Recording absent;   ///< as from a file without them
  estimator::Recording emptied;  ///< with these rows, but without readings
};
DroppedRows drop_rows(const random_rigs::RandomRig& rig, double share, unsigned seed);

}  // namespace signal_faults
