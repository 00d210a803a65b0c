#pragma once

#include <string>
#include <vector>

namespace notation {

/// Returns the positions of evenly spaced axis ticks within [low, high]. Their spacing is 1, 2 or 5
/// times a power of ten, and at least (high − low) / count_max.
std::vector<double> choose_axis_ticks(double low, double high, int count_max);

/// Labels of an axis's ticks.
struct TickLabels {
  std::vector<std::string> texts;  ///< one label per tick, all with the same exponent
  std::string offset;              ///< common offset, subtracted from all labels; empty: none
};

/// Returns axis tick labels with just enough digits to distinguish neighbouring ticks. If labels
/// are longer than `length_max`, a common offset is subtracted if this shortens the labels.
TickLabels format_tick_labels(const std::vector<double>& ticks, std::size_t length_max = 7);

/// Returns an axis label with the offset of its ticks: "angle − 1.5 [rad]".
std::string label_with_offset(const std::string& label, const std::string& offset);

}  // namespace notation
