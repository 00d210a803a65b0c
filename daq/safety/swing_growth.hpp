#pragma once

#include <cstdint>

namespace daq {

/// Detects swings of a free joint that grow although no motor drives the rig. Compares the sizes of
/// swings between turning points, or the speeds of turns if the joint rotates. Real-time safe.
class SwingGrowthDetector {
 public:
  /// Smallest increase that counts as growth, as a fraction of the largest earlier swing or the
  /// fastest earlier turn.
  static constexpr double kShare = 0.1;

  /// Adds the counts of the joint's encoder at a time [s].
  /// @param counts_per_turn  0: the joint slides
  /// @return ratio of the last swing to the largest earlier swing if four consecutive swings grew,
  ///     else 0. For a rotating joint, the ratio of the speeds of the turns.
  double add(std::int64_t counts, double time_s, double counts_per_turn) noexcept;

 private:
  double update_growth(double size, double& largest, double margin) noexcept;

  int direction_ = 0;  // 0: has not moved yet
  std::int64_t extreme_ = 0;
  std::int64_t last_extreme_ = 0;
  bool has_extreme_ = false;
  std::int64_t turn_counts_ = 0;
  double turn_s_ = 0.0;
  double largest_swing_ = 0.0;  // [counts]
  double fastest_turn_ = 0.0;   // [turns/s]
  int growths_ = 0;             // in a row
};

}  // namespace daq
