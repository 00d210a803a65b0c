#include "estimator/signal/noise_level.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace estimator {
namespace {

constexpr double kWhite = 0.5e-3;  // [rad]
constexpr int kNoiseRows = 4000;

/// A swing at 1 Hz sampled at 200 Hz, with white noise.
Segment noisy_swing() {
  Segment segment;
  segment.period = 5e-3;
  segment.angles.resize(kNoiseRows, 1);
  std::mt19937 random(4);
  std::normal_distribution<double> noise(0.0, kWhite);
  for (int k = 0; k < kNoiseRows; ++k) {
    segment.angles(k, 0) = std::sin(2.0 * M_PI * 5e-3 * k) + noise(random);
  }
  return segment;
}

// Successive fourth differences are correlated: the level from N of them has the relative standard
// deviation √(2·2.6/N)/2, 4 % for the 800 readings of one in five rows. In windows of that length,
// the swing adds (2 sin(ωT/2))⁴/√140 = 5e-5 rad to the level, as squares.
TEST(NoiseLevel, IsFoundWithMissingReadings) {
  for (int every = 2; every <= 10; ++every) {
    for (const bool present : {false, true}) {  // one of `every` readings is missing, or present
      if (present && every > 5) continue;       // too few for the swing
      Segment segment = noisy_swing();
      for (int k = 0; k < kNoiseRows; ++k) {
        if ((k % every == 0) != present) {
          segment.angles(k, 0) = std::numeric_limits<double>::quiet_NaN();
        }
      }
      EXPECT_NEAR(estimate_noise_level(segment, 0), kWhite, 0.15 * kWhite)
          << every << ' ' << present;
    }
  }
}

// Readings at random rows.
TEST(NoiseLevel, IsFoundWithFewReadings) {
  Segment segment = noisy_swing();
  std::mt19937 random(7);
  for (double& reading : segment.angles.col(0)) {
    if (std::bernoulli_distribution(0.6)(random)) {
      reading = std::numeric_limits<double>::quiet_NaN();
    }
  }
  EXPECT_NEAR(estimate_noise_level(segment, 0), kWhite, 0.15 * kWhite);
}

// A long gap must not add the motion across it. Catches windows of any duration.
TEST(NoiseLevel, IgnoresGaps) {
  Segment segment = noisy_swing();
  const double whole = estimate_noise_level(segment, 0);
  for (int k = 100; k < kNoiseRows; ++k) {
    if (k % 100 < 40) segment.angles(k, 0) = std::numeric_limits<double>::quiet_NaN();
  }
  EXPECT_NEAR(estimate_noise_level(segment, 0), whole, 0.1 * whole);
}

}  // namespace
}  // namespace estimator
