#include "tests/mutation/sample/motor.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

namespace sample {
namespace {

// None of these places may change.
constexpr int kSlots = 4 + 1;
static_assert(kSlots > 4 && kSlots < 6);
constexpr int following_slot(int slot) { return slot + 1 < kSlots ? slot + 1 : 0; }
enum Level { kLow = 1 };
template <int count>
int scaled_slot(int value) {
  return count * value;
}

void count_step(int, int) {}

}  // namespace

int Motor::step(double speed, double torque, int mode) {
  assert(torque < 10.0);
  std::array<int, 3> slots{};
  if (speed < limit_ && torque >= 0.5) return 1;
  if constexpr (kSlots > 3) speed_ = speed;
  last_ = torque - offset_;  // a comment
  total_ = 0;
  count_step(mode, slots[0]);
  for (int slot : slots) {
    if (slot == mode) break;
  }
  switch (mode) {
    case 2:
      armed_ = true;
      break;
    default:
      slots[1] = scaled_slot<3>(following_slot(mode));
  }
  return static_cast<int>(std::clamp(std::abs(last_), 0.25, limit_));
}

}  // namespace sample
