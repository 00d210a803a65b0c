#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/fit/free_parameters.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

// Intervals of the decay rate of a Stribeck excess that is weakly identifiable.

namespace estimator {
namespace {

using test_support::freed;
using test_support::pendulum_of;
using test_support::ReferencePendulum;
using test_support::swing;

ReferencePendulum sticky(double excess) {
  return {.b = 2e-4, .tau_c = 0.006, .tau_s = 0.006 + excess, .zeta = 2.0};
}

Calibration calibrate(const ReferencePendulum& rig, double angle, double noise) {
  const auto recording = swing(rig, "release", angle, 4000, 2e-3, noise, 5);
  return calibrate(
      freed(pendulum_of(rig), {"P.J_zz", "1.b", "1.tau_c", "1.tau_delta", "1.zeta"}, 0.9),
      {recording});
}

bool has_profile_note(const Calibration& result, const std::string& name) {
  return std::ranges::any_of(result.notes, [&](const Message& note) {
    return note.code == MessageCode::kProfileInterval &&
           *note.find("parameter") == Argument::Value(name);
  });
}

// If the rate is known to some per cent, the interval of linear theory is kept.
TEST(ProfileIntervals, KeepTheLinearIntervalOfAPreciseDecayRate) {
  const Calibration result = calibrate(sticky(0.003), 0.8, 1e-4);
  const ParameterEstimate& rate = test_support::estimate_of(result, "1.zeta");
  EXPECT_LT(rate.half_interval, 0.25 * rate.value);
  EXPECT_DOUBLE_EQ(rate.half_interval, kNormalHalfWidth95 * rate.standard_deviation);
  EXPECT_FALSE(has_profile_note(result, "1.zeta"));
}

// For a small excess in much noise any decay explains the readings: the interval's end is unbounded
// or far from that of linear theory.
TEST(ProfileIntervals, AreWiderThanTheLinearInterval) {
  const Calibration result = calibrate(sticky(0.0003), 1.5, 2e-3);
  const ParameterEstimate& rate = test_support::estimate_of(result, "1.zeta");
  EXPECT_GT(rate.half_interval, 1.1 * kNormalHalfWidth95 * rate.standard_deviation);
  EXPECT_TRUE(has_profile_note(result, "1.zeta"));
}

// Only decay rates are limited to a factor per step.
TEST(ProfileIntervals, ApplyToDecayRatesOnly) {
  const Mechanism mechanism = freed(pendulum_of(sticky(0.003)), {"1.b", "1.tau_delta", "1.zeta"});
  const Eigen::VectorXd growth = FreeParameters(mechanism).growth_limits(mechanism);
  ASSERT_EQ(growth.size(), 3);
  EXPECT_EQ(growth[0], HUGE_VAL);
  EXPECT_EQ(growth[1], HUGE_VAL);
  EXPECT_EQ(growth[2], 4.0);
}

}  // namespace
}  // namespace estimator
