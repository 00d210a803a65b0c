#include "estimator/signal/time_series.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

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

}  // namespace
}  // namespace estimator
