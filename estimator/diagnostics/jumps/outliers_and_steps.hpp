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
/// the same side from two extrapolations, of the readings before and after it. Both deviations
/// exceed those that noise, quantization and accelerations explain (NoiseScale). At a bend of the
/// motion, or even a jump of its speed, one of the two extrapolations agrees with the reading.
/// @param chance  probability of a single false alarm over the whole series
std::vector<Outlier> find_outliers(const ReadingSeries& series, const NoiseScale& scale,
                                   SeriesKind kind = SeriesKind::kMotion,
                                   double chance = kFalseAlarm);

/// A lasting jump between two consecutive readings of a series.
struct ReadingStep {
  std::size_t position = 0;  ///< index of the first reading after the jump
  double size = 0.0;         ///< [rad or m]
  double deviation = 0.0;    ///< standard deviation of `size`, from noise and quantization
  /// `size` divided by the largest size that noise and motion explain.
  double ratio = 0.0;
};

/// Finds lasting jumps in a series of readings. At a jump, two polynomials, through the readings
/// before and after it, differ everywhere between the two adjacent readings by more than noise,
/// quantization and accelerations explain. A motion is continuous even at an impact, where only its
/// speed jumps. The statistic is the likelihood ratio of a step against none for independent
/// polynomials [Bas93, sec. 7.2].
/// @param unit    JointUnits::scale of the sensor
/// @param chance  probability of a single false alarm over the whole series
std::vector<ReadingStep> find_reading_steps(const ReadingSeries& series, const NoiseScale& scale,
                                            SeriesKind kind, double unit,
                                            double chance = kFalseAlarm);

}  // namespace estimator
