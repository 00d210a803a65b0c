#pragma once

#include <cmath>
#include <vector>

#include "estimator/model/encoder.hpp"

namespace estimator {

/// Calls `use(first, count)` for every group of encoders with a common noise level: the components
/// of a quaternion, or a single encoder.
template <typename Use>
void for_each_encoder_group(const std::vector<Encoder>& encoders, const Use& use) {
  constexpr std::size_t kComponents = 4;
  for (std::size_t first = 0, count = 1; first < encoders.size(); first += count) {
    const bool is_quaternion =
        encoders[first].kind == JointKind::kQuaternion && first + kComponents <= encoders.size();
    count = is_quaternion ? kComponents : 1;
    use(first, count);
  }
}

/// Gives the components of each quaternion their common noise level. A quaternion of norm 1 has
/// noise in three of four directions.
/// @param[in,out] noise  noise level of each encoder, from its own readings
template <typename Levels>
void share_quaternion_noise(const std::vector<Encoder>& encoders, Levels& noise) {
  for_each_encoder_group(encoders, [&](std::size_t first, std::size_t count) {
    if (count == 1) return;
    double squares = 0.0;
    for (std::size_t i = first; i < first + count; ++i) squares += noise[i] * noise[i];
    const double level = std::sqrt(squares / static_cast<double>(count - 1));
    for (std::size_t i = first; i < first + count; ++i) noise[i] = level;
  });
}

}  // namespace estimator
