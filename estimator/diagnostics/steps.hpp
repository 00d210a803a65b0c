#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "estimator/diagnostics/noise_scale.hpp"

namespace estimator {

/// A lasting jump in value between two consecutive readings.
struct Step {
  std::size_t position = 0;  ///< in the series: the first reading after it
  double size = 0.0;         ///< [rad or m]
  double deviation = 0.0;    ///< standard deviation of `size`, from noise and quantization
  double ratio = 0.0;        ///< size over the largest size that noise and motion explain
};

/// Finds jumps in a series: places where polynomials through the readings before and after differ
/// everywhere between the two adjacent readings, by more than noise, quantization and accelerations
/// explain. A motion is continuous, even at an impact, where only its speed jumps. The statistic is
/// the likelihood ratio of a step against none for independent polynomials [Bas93, sec. 7.2].
///
/// @param unit    JointUnits::scale
/// @param chance  probability of a single false alarm over the whole series
std::vector<Step> find_steps(const ReadingSeries& series, const NoiseScale& scale, SeriesKind kind,
                             double unit, double chance = kFalseAlarm);

}  // namespace estimator
