#pragma once

#include <vector>

namespace estimator {

/// Replaces an ascending list of numbers below `count` by the next such list of the same size.
/// Returns false after the last one.
inline bool advance_to_next_subset(std::vector<int>& chosen, int count) {
  const int size = static_cast<int>(chosen.size());
  int at = size - 1;
  while (at >= 0 && chosen[at] == count - size + at) --at;
  if (at < 0) return false;
  ++chosen[at];
  for (int i = at + 1; i < size; ++i) {
    chosen[i] = chosen[i - 1] + 1;
  }
  return true;
}

}  // namespace estimator
