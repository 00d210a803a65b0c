#include "estimator/simulation/interval/interval_lane.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace estimator {
namespace {

/// ∫ e^{−0.4 |x|} |dx| between two speeds, by the midpoint rule.
double way_between(double from, double to) {
  constexpr int kParts = 200000;
  const double part = (to - from) / kParts;
  double sum = 0.0;
  for (int i = 0; i < kParts; ++i) sum += std::exp(-0.4 * std::abs(from + (i + 0.5) * part));
  return sum * std::abs(part);
}

TEST(ScaledSpeedParabola, MatchesTheIntegratedDistance) {
  for (const double side : {-1.0, 1.0}) {
    EXPECT_NEAR(ScaledSpeedParabola(side * 3.0, side * 0.5).transformed_length(),
                way_between(0.5, 3.0), 1e-8);
    EXPECT_NEAR(ScaledSpeedParabola(side * -2.0, side * 1.0).transformed_length(),
                way_between(-2.0, 1.0), 1e-8);
    EXPECT_NEAR(ScaledSpeedParabola(side * -80.0, side * 80.0).transformed_length(), 5.0, 1e-12);
    EXPECT_LT(ScaledSpeedParabola(side * 60.0, side * 100.0).transformed_length(), 1e-10);
  }
}

// From 8 down to 0 and back: 8 (1 − 2 s)² has the mean 8/3, which its ends do not show.
TEST(ScaledSpeedParabola, HandlesASpeedThatTurnsWithinTheStep) {
  for (const double side : {-1.0, 1.0}) {
    const ScaledSpeedParabola course(side * 8.0, side * 8.0 / 3.0, side * 8.0);
    EXPECT_NEAR(course.transformed_length(), 2.0 * way_between(0.0, 8.0), 1e-8);
    // At the initial rate, −32 per step.
    const double share = course.step_fraction_at_initial_slope(0.3);
    EXPECT_NEAR(way_between(8.0, 8.0 - 32.0 * share), 0.3, 1e-8);
  }
}

TEST(ScaledSpeedParabola, ExtrapolatesFromItsEnds) {
  for (const double side : {-1.0, 1.0}) {
    const double begin = side * -6.0, end = side * 1.5;  // linear in time
    const ScaledSpeedParabola course(begin, end);
    EXPECT_NEAR(
        way_between(begin, begin + (end - begin) * course.step_fraction_at_initial_slope(0.2)), 0.2,
        1e-8);
    EXPECT_NEAR(way_between(end, end + (end - begin) * course.step_fraction_at_final_slope(0.2)),
                0.2, 1e-8);
  }
  // Initially slower than on average: the mean decides. Twice as fast at the end.
  const ScaledSpeedParabola rising(0.0, 1.0 / 3.0, 1.0);  // s²
  EXPECT_NEAR(way_between(0.0, rising.step_fraction_at_initial_slope(0.1)), 0.1, 1e-8);
  EXPECT_NEAR(way_between(1.0, 1.0 + 2.0 * rising.step_fraction_at_final_slope(0.1)), 0.1, 1e-8);
}

TEST(ScaledSpeedParabola, IsUnlimitedFarFromRestOrWithoutRate) {
  EXPECT_EQ(ScaledSpeedParabola(7.0, 9.0).step_fraction_at_final_slope(0.3), HUGE_VAL);
  EXPECT_EQ(ScaledSpeedParabola(-7.0, -9.0).step_fraction_at_final_slope(0.3), HUGE_VAL);
  EXPECT_NEAR(
      way_between(7.0, 7.0 - 2.0 * ScaledSpeedParabola(9.0, 7.0).step_fraction_at_final_slope(0.3)),
      0.3, 1e-8);
  EXPECT_EQ(ScaledSpeedParabola(0.2, 0.2).step_fraction_at_initial_slope(0.3), HUGE_VAL);
  EXPECT_EQ(ScaledSpeedParabola(0.2, 0.2).step_fraction_at_final_slope(0.3), HUGE_VAL);
}

}  // namespace
}  // namespace estimator
