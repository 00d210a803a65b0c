#pragma once

#include <string>
#include <vector>

namespace notation {

/// Ticks at 1, 2 or 5 times a power of ten within [low, high], at most `count_max`.
std::vector<double> nice_ticks(double low, double high, int count_max);

/// What stands at the ticks of an axis.
struct TickTexts {
  std::vector<std::string> texts;  ///< one for each tick, all of one exponent
  std::string offset;              ///< what is taken off all of them; empty: nothing
};

/// As many digits as tell neighbours apart. Where that makes texts longer than `length_max` and
/// something is common to all, they tell what is above it.
TickTexts tick_texts(const std::vector<double>& ticks, std::size_t length_max = 7);

/// An axis's label with what is taken off its ticks: "angle − 1.5 [rad]".
std::string label_with_offset(const std::string& label, const std::string& offset);

}  // namespace notation
