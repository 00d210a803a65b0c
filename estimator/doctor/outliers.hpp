#pragma once

#include <cstddef>
#include <vector>

#include "estimator/doctor/signal_scale.hpp"

namespace estimator {

/// A stretch of readings that are false as long as it is taken for isolated readings.
inline constexpr std::size_t kOutliersInARow = 5;

/// One reading that lies off the motion.
struct Outlier {
  std::size_t position = 0;  ///< in the series
  double size = 0.0;         ///< how far off [rad or m]
};

/// Readings, at most kOutliersInARow in a row, that lie off what the readings before and those
/// after them say, on the same side of both, further than noise, counting and the accelerations of
/// this motion can explain (SignalScale). Where the motion bends, even with a jump of its speed,
/// one of both sides agrees with the reading.
///
/// @param chance  of a single false alarm over the whole series
std::vector<Outlier> find_outliers(const ReadingSeries& series, const SignalScale& scale,
                                   SeriesKind kind = SeriesKind::kMotion,
                                   double chance = kFalseAlarm);

}  // namespace estimator
