#include "estimator/signal/time_series.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "estimator/math/angle_wrapping.hpp"

namespace estimator {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kUnread = std::numeric_limits<double>::quiet_NaN();

// Many turns in both directions. Counting only one turn, or comparing with the first sample instead
// of the last, loses the later turns.
TEST(Unwrap, RestoresAContinuousAngleOverManyTurns) {
  Eigen::VectorXd angle(400), wrapped(400);
  for (int k = 0; k < 400; ++k) {
    angle[k] = 40.0 * std::sin(0.02 * k) + 0.3;
    wrapped[k] = std::remainder(angle[k], 2.0 * kPi);
  }
  EXPECT_LT((unwrap(wrapped) - angle).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Unwrap, LeavesAContinuousAngleUnchanged) {
  const Eigen::VectorXd angle = Eigen::VectorXd::LinSpaced(50, -70.0, 70.0);  // 2.86 rad per sample
  EXPECT_EQ((unwrap(angle) - angle).cwiseAbs().maxCoeff(), 0.0);
}

TEST(Unwrap, ContinuesAcrossNaN) {
  Eigen::VectorXd angle(6), expected(6);
  angle << kUnread, 3.0, kUnread, -3.0, kUnread, 3.0;
  expected << kUnread, 3.0, kUnread, -3.0 + 2.0 * kPi, kUnread, 3.0;
  const Eigen::VectorXd actual = unwrap(angle);
  for (int k = 0; k < 6; ++k) {
    if (std::isnan(expected[k])) {
      EXPECT_TRUE(std::isnan(actual[k])) << k;
    } else {
      EXPECT_NEAR(actual[k], expected[k], 1e-14) << k;
    }
  }
}

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
