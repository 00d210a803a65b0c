#include "estimator/optimize/levenberg_marquardt.hpp"

#include <gtest/gtest.h>

namespace estimator {
namespace {

Damping damping_from(double start) {
  LmOptions options{.initial_damping = start, .min_damping = 1e-6, .max_damping = 1e6};
  return Damping(options);
}

double after_gain(double gain_ratio) {
  Damping damping = damping_from(1.0);
  damping.lower(gain_ratio);
  return damping.value();
}

// 1 − (2ρ − 1)³, limited to between 0.01 and 1/3. ρ = 0.95 lies between the limits: a square
// instead of the cube gives 0.19. A step much better than predicted counts as perfect.
TEST(Damping, FallsMoreForBetterPredictedSteps) {
  EXPECT_DOUBLE_EQ(after_gain(1e-4), 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(after_gain(0.5), 1.0 / 3.0);
  EXPECT_NEAR(after_gain(0.95), 1.0 - 0.9 * 0.9 * 0.9, 1e-12);
  EXPECT_DOUBLE_EQ(after_gain(1.0), 0.01);
  EXPECT_DOUBLE_EQ(after_gain(3.0), 0.01);
}

// By 2, 4, 8; an accepted step restarts the sequence.
TEST(Damping, GrowsFasterUntilAStepIsAccepted) {
  Damping damping = damping_from(1.0);
  for (const double expected : {2.0, 8.0, 64.0}) {
    EXPECT_TRUE(damping.raise());
    EXPECT_DOUBLE_EQ(damping.value(), expected);
  }
  damping.lower(1.0);
  EXPECT_DOUBLE_EQ(damping.value(), 0.64);
  EXPECT_TRUE(damping.raise());
  EXPECT_DOUBLE_EQ(damping.value(), 1.28);
}

// A failed factorization raises it a hundredfold without changing that sequence.
TEST(Damping, RoundingRaisesItAHundredfold) {
  Damping damping = damping_from(1.0);
  EXPECT_TRUE(damping.raise_after_failed_factorization());
  EXPECT_DOUBLE_EQ(damping.value(), 100.0);
  EXPECT_TRUE(damping.raise());
  EXPECT_DOUBLE_EQ(damping.value(), 200.0);
}

// It stays between smallest and largest, and the largest is reported. It can grow from zero.
TEST(Damping, StaysInItsRange) {
  Damping low = damping_from(2e-6);
  low.lower(1.0);
  EXPECT_DOUBLE_EQ(low.value(), 1e-6);
  Damping high = damping_from(9e5);
  EXPECT_TRUE(high.raise());
  EXPECT_DOUBLE_EQ(high.value(), 1e6);
  EXPECT_FALSE(high.raise());
  EXPECT_FALSE(high.raise_after_failed_factorization());
  EXPECT_DOUBLE_EQ(high.value(), 1e6);
  Damping none = damping_from(0.0);
  EXPECT_TRUE(none.raise());
  EXPECT_DOUBLE_EQ(none.value(), 2e-6);
}

}  // namespace
}  // namespace estimator
