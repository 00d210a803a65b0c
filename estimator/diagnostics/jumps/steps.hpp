#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "estimator/diagnostics/jumps/reading_series.hpp"

namespace estimator {

/// A lasting jump between two consecutive readings of a series.
struct Step {
  std::size_t position = 0;  ///< index of the first reading after the jump
  double size = 0.0;         ///< [rad or m]
  double deviation = 0.0;    ///< standard deviation of `size`, from noise and quantization
  /// Ratio of the size to the largest size that noise and motion explain.
  double ratio = 0.0;
};

/// Finds lasting jumps in a series of readings. At a jump, polynomials through the readings before
/// and after it differ by more than noise, quantization and accelerations explain, everywhere
/// between the two adjacent readings. A motion is continuous even at an impact, where only its
/// speed jumps. The statistic is the likelihood ratio of a step against none for independent
/// polynomials [Bas93, sec. 7.2].
/// @param unit    JointUnits::scale of the sensor
/// @param chance  probability of a single false alarm over the whole series
std::vector<Step> find_steps(const ReadingSeries& series, const NoiseScale& scale, SeriesKind kind,
                             double unit, double chance = kFalseAlarm);

}  // namespace estimator
