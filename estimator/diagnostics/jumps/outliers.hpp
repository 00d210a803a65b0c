#pragma once

#include <cstddef>
#include <vector>

#include "estimator/diagnostics/jumps/reading_series.hpp"

namespace estimator {

/// Longest run of false readings that counts as isolated outliers.
inline constexpr std::size_t kOutliersInARow = 5;

/// A single reading that deviates from the motion.
struct Outlier {
  std::size_t position = 0;  ///< index in the series
  double size = 0.0;         ///< deviation from the motion [rad or m]
};

/// Finds outliers in a series, in runs of at most kOutliersInARow readings. An outlier deviates to
/// the same side from extrapolations of the readings before and after it, by more than noise,
/// quantization and the accelerations of this motion explain (NoiseScale). At a bend of the motion,
/// or even a jump of its speed, one of the two extrapolations agrees with the reading.
/// @param chance  probability of a single false alarm over the whole series
std::vector<Outlier> find_outliers(const ReadingSeries& series, const NoiseScale& scale,
                                   SeriesKind kind = SeriesKind::kMotion,
                                   double chance = kFalseAlarm);

}  // namespace estimator
