#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "estimator/doctor/signal_scale.hpp"

namespace estimator {

/// A lasting jump in value, from one reading to the next.
struct Step {
  std::size_t position = 0;  ///< in the series: the first reading behind it
  double size = 0.0;         ///< [rad or m]
  double deviation = 0.0;    ///< of `size`, from noise and counting
  double ratio = 0.0;        ///< of its size to what noise, counting and accelerations explain
};

/// Jumps of a series: places where the polynomials through the readings before and those after it
/// meet nowhere between the two readings beside it, by further than noise, counting and
/// accelerations can explain. A motion is continuous, and so is a blow to it, whose speed alone
/// jumps. The statistic is the likelihood ratio of a step against none for polynomials that know
/// nothing of one another [Bas93, sec. 7.2].
///
/// @param unit    JointUnits::scale
/// @param chance  of a single false alarm over the whole series
std::vector<Step> find_steps(const ReadingSeries& series, const SignalScale& scale, SeriesKind kind,
                             double unit, double chance = kFalseAlarm);

/// The step that comes nearest to what `find_steps` tells beside a model, or exceeds it most; none
/// in a series too short for one, or where all ratios are below `least`.
std::optional<Step> likeliest_step(const ReadingSeries& series, const SignalScale& scale,
                                   double unit, double least);

}  // namespace estimator
