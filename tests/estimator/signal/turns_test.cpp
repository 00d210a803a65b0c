#include "estimator/math/angle_wrapping.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace estimator {
namespace {

// Both sides of half a turn, and of many: subtracting full turns on one side only would make the
// difference large on the other.
TEST(Turns, AreSubtractedInBothDirections) {
  for (const double sign : {1.0, -1.0}) {
    EXPECT_EQ(wrap_angle_difference(sign * M_PI), sign * M_PI) << "half a turn stays on its side";
    EXPECT_EQ(removed_full_turns(sign * M_PI), 0.0);
    for (const double turns : {1.0, 2.0, 7.0}) {
      const double difference = sign * (turns * kWholeTurn + 3.0);
      EXPECT_NEAR(wrap_angle_difference(difference), sign * 3.0, 1e-14 * turns);
      EXPECT_EQ(removed_full_turns(difference), sign * turns);
      EXPECT_NEAR(wrap_angle_difference(sign * (turns * kWholeTurn - 3.0)), -sign * 3.0,
                  1e-14 * turns);
      EXPECT_EQ(removed_full_turns(sign * (turns * kWholeTurn - 3.0)), sign * turns);
    }
  }
  EXPECT_TRUE(std::isnan(wrap_angle_difference(std::numeric_limits<double>::quiet_NaN())));
}

}  // namespace
}  // namespace estimator
