#pragma once

#include <cstddef>
#include <vector>

#include "estimator/diagnostics/noise_scale.hpp"

namespace estimator {

/// Longest run of false readings that counts as isolated outliers.
inline constexpr std::size_t kOutliersInARow = 5;

/// One reading off the motion.
struct Outlier {
  std::size_t position = 0;  ///< in the series
  double size = 0.0;         ///< deviation from the motion [rad or m]
};

/// Finds outliers: at most kOutliersInARow readings in a row that deviate from extrapolations of
/// both the readings before and those after, on the same side, by more than noise, quantization and
/// the accelerations of this motion explain (NoiseScale). At a bend of the motion, even a jump of
/// its speed, one side agrees with the reading.
///
/// @param chance  probability of a single false alarm over the whole series
std::vector<Outlier> find_outliers(const ReadingSeries& series, const NoiseScale& scale,
                                   SeriesKind kind = SeriesKind::kMotion,
                                   double chance = kFalseAlarm);

}  // namespace estimator
