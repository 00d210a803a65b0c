#include "estimator/signal/noise_level.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "estimator/signal/repeated_readings.hpp"

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

constexpr double kSlowCount = 2.0 * M_PI / 2000.0;

/// A decaying swing whose latest reading, taken every `rows_per_reading` rows, stands in each row.
Eigen::VectorXd held_swing(int rows, double rows_per_reading, double quantum, double noise) {
  Eigen::VectorXd readings(rows);
  std::mt19937 random(2);
  std::normal_distribution<double> white(0.0, 1.0);
  double latest = -1.0;
  for (int k = 0; k < rows; ++k) {
    const double taken = std::floor(k / rows_per_reading + 1e-9);
    if (taken != latest) {
      latest = taken;
      const double time = 5e-3 * rows_per_reading * taken;
      readings[k] = std::exp(-0.3 * time) * std::cos(8.0 * time) + noise * white(random);
      if (quantum > 0.0) readings[k] = quantum * std::round(readings[k] / quantum);
    } else {
      readings[k] = readings[k - 1];
    }
  }
  return readings;
}

// Noisy and quantized sensors, at whole and other ratios of the rates.
TEST(RepeatedReadings, AreFoundForSlowSensors) {
  for (const double ratio : {1.25, 5.0 / 3.0, 2.0, 2.5, 3.0, 5.0, 10.0}) {
    for (const auto& [quantum, noise] : {std::pair(0.0, 5e-4), {kSlowCount, 0.0}}) {
      const Eigen::VectorXd readings = held_swing(2000, ratio, quantum, noise);
      EXPECT_NEAR(find_rows_per_reading({readings}, quantum), ratio, 0.05 * ratio)
          << ratio << ' ' << quantum;
    }
  }
}

// A sensor in every row has no repetitions, although a quantized one repeats readings at rest, at
// turning points and at constant speed.
TEST(RepeatedReadings, AreNotFoundForFastSensors) {
  EXPECT_EQ(find_rows_per_reading({held_swing(2000, 1.0, 0.0, 5e-4)}, 0.0), 1.0);
  EXPECT_EQ(find_rows_per_reading({held_swing(2000, 1.0, kSlowCount, 0.0)}, kSlowCount), 1.0);
  EXPECT_EQ(find_rows_per_reading({held_swing(20000, 1.0, kSlowCount, 0.0)}, kSlowCount), 1.0);
  Eigen::VectorXd steady(2000);
  for (const double rows_per_count : {0.7, 1.0, 2.0, 2.5}) {
    for (int k = 0; k < steady.size(); ++k) {
      steady[k] = kSlowCount * std::floor(k / rows_per_count);
    }
    EXPECT_EQ(find_rows_per_reading({steady}, kSlowCount), 1.0) << rows_per_count;
  }
  EXPECT_EQ(find_rows_per_reading({Eigen::VectorXd::Ones(2000)}, 0.0), 1.0);
  EXPECT_EQ(find_rows_per_reading({}, 0.0), 1.0);
}

// Twenty runs of equal readings between changes decide; fewer do not. The first and last run may be
// cut off.
TEST(RepeatedReadings, NeedTwentyRuns) {
  EXPECT_EQ(find_rows_per_reading({held_swing(2 * 21, 2.0, 0.0, 5e-4)}, 0.0), 1.0);
  EXPECT_EQ(find_rows_per_reading({held_swing(2 * 22, 2.0, 0.0, 5e-4)}, 0.0), 2.0);
}

// Missing readings are not repetitions, and rows between equal readings at rest still count.
TEST(RepeatedReadings, KeepTheFirstRowOfEach) {
  const double kMissing = std::numeric_limits<double>::quiet_NaN();
  const Eigen::VectorXd half =
      (Eigen::VectorXd(10) << 1, 1, 2, 2, 2, 2, 2, 2, 3, 3).finished();  // three equal readings
  EXPECT_EQ(find_repeated_rows(half, 2.0), (std::vector<int>{1, 3, 5, 7, 9}));
  const Eigen::VectorXd holed = (Eigen::VectorXd(6) << 1, kMissing, 2, 2, kMissing, 3).finished();
  EXPECT_EQ(find_repeated_rows(holed, 2.0), (std::vector<int>{3}));
  EXPECT_TRUE(find_repeated_rows(half, 1.0).empty());
  Eigen::VectorXd every_other = held_swing(2000, 1.0, 0.0, 5e-4);
  for (int k = 0; k < every_other.size(); k += 2) every_other[k] = kMissing;
  EXPECT_EQ(find_rows_per_reading({every_other}, 0.0), 1.0);
}

}  // namespace
}  // namespace estimator
