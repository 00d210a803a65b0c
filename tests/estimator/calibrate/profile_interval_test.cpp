#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "estimator/assessment/intervals/parameter_profile.hpp"
#include "estimator/calibrate/calibrate.hpp"
#include "estimator/fit/free_parameters.hpp"
#include "tests/support/estimates.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

// Intervals of the decay rate of a Stribeck excess that is weakly identifiable.

namespace estimator {
namespace {

using namespace test_support;
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
  const ParameterEstimate& rate = estimate_of(result, "1.zeta");
  EXPECT_LT(rate.half_interval, 0.25 * rate.value);
  EXPECT_DOUBLE_EQ(rate.half_interval, kNormalHalfWidth95 * rate.standard_deviation);
  EXPECT_FALSE(has_profile_note(result, "1.zeta"));
}

// For a small excess in much noise any decay explains the readings: the interval's end is unbounded
// or far from that of linear theory.
TEST(ProfileIntervals, AreWiderThanTheLinearInterval) {
  const Calibration result = calibrate(sticky(0.0003), 1.5, 2e-3);
  const ParameterEstimate& rate = estimate_of(result, "1.zeta");
  EXPECT_GT(rate.half_interval, 1.1 * kNormalHalfWidth95 * rate.standard_deviation);
  EXPECT_TRUE(has_profile_note(result, "1.zeta"));
}

// A partner of the decay rate gets the interval of every held fit that is probable: for small
// excess in much noise, kinetic friction and excess are exchangeable.
TEST(ProfileIntervals, WidenThePartnersOfADecayRate) {
  const ReferencePendulum rig = sticky(0.0003);
  const Calibration result = calibrate(rig, 1.5, 2e-3);
  const ParameterEstimate& friction = test_support::estimate_of(result, "1.tau_c");
  EXPECT_GT(friction.half_interval, 1.1 * kNormalHalfWidth95 * friction.standard_deviation);
  EXPECT_LT(std::abs(friction.value - rig.tau_c), friction.half_interval);
}

// Viscous friction beside dry friction that ends at its bound zero: its interval includes the
// estimates for every probable dry friction.
TEST(ProfileIntervals, WidenThePartnersOfAParameterAtABound) {
  const ReferencePendulum rig{.b = 2e-4, .tau_c = 1e-6, .tau_s = 1e-6};
  const Mechanism mechanism = freed(pendulum_of(rig), {"P.J_zz", "1.b", "1.tau_c"}, 0.9);
  int at_bound = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const Calibration result =
        calibrate(mechanism, {swing(rig, "release", 1.0, 3000, 2e-3, 2e-3, seed)});
    const ParameterEstimate& dry = test_support::estimate_of(result, "1.tau_c");
    if (!dry.at_bound || dry.half_interval == 0.0) continue;
    ++at_bound;
    const ParameterEstimate& viscous = test_support::estimate_of(result, "1.b");
    EXPECT_GT(viscous.half_interval, 1.1 * kNormalHalfWidth95 * viscous.standard_deviation) << seed;
    EXPECT_LT(std::abs(viscous.value - rig.b), viscous.half_interval) << seed;
    EXPECT_GT(dry.half_interval, rig.tau_c) << seed;
  }
  EXPECT_GE(at_bound, 2);
}

/// The estimate 1.b = 2e-4 ± 1e-6 (one standard deviation), 1.zeta = 2, with fits in which ζ is
/// held.
struct HeldRates {
  Mechanism mechanism = freed(pendulum_of(sticky(0.003)), {"1.b", "1.zeta"});
  ParameterInformation information;
  ParameterProfile profile{.position = 1};
  Eigen::VectorXd half = Eigen::Vector2d(kNormalHalfWidth95 * 1e-6, 0.5);

  HeldRates() {
    information.valid = true;
    information.at_bound = Eigen::Vector2i::Zero();
    information.inverse = Eigen::Vector2d(1e-12, 1.0).asDiagonal();
  }
  void add(double rate, double viscous, double rise) {
    Mechanism values = mechanism;
    values.joint_parameter(0, JointParameter::kStribeckRate).value = rate;
    values.joint_parameter(0, JointParameter::kViscous).value = viscous;
    profile.fits.push_back(
        {.rise = rise, .values = values, .conditional = Eigen::Vector2d(0.25e-12, 0.0)});
  }
  std::vector<Message> widen() {
    return widen_intervals_by_profiles({profile}, mechanism, information, half);
  }
};

TEST(ParameterProfile, JoinsTheIntervalsOfProbableRates) {
  HeldRates held;
  held.add(0.25, 9e-4, 25.0);  // improbable: 1.96² is allowed
  held.add(0.5, 2.1e-4, 1.0);
  held.add(2.0, 2e-4, 0.0);
  held.add(8.0, 1.98e-4, 3.0);
  held.add(32.0, 8e-4, 16.0);
  EXPECT_EQ(held.widen().size(), 2U);
  const double allowed = kNormalHalfWidth95 * kNormalHalfWidth95;
  EXPECT_NEAR(held.half[0], 1e-5 + 0.5e-6 * std::sqrt(allowed - 1.0), 1e-12);
  // Between rates 8 and 32, the root of the rise grows from √3 to 4.
  const double share = (kNormalHalfWidth95 - std::sqrt(3.0)) / (4.0 - std::sqrt(3.0));
  EXPECT_NEAR(held.half[1], 8.0 * std::pow(4.0, share) - 2.0, 1e-9);
}

// The interval is open where even the last rate is probable, and stays where no rate is.
TEST(ParameterProfile, IsOpenAtAProbableEnd) {
  HeldRates open;
  open.add(0.5, 2e-4, 25.0);
  open.add(2.0, 2e-4, 0.0);
  open.add(8.0, 2e-4, 1.0);
  const std::vector<Message> notes = open.widen();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(*notes[0].find("is_open_above"), Argument::Value(true));
  EXPECT_EQ(*notes[0].find("is_open_below"), Argument::Value(false));
  EXPECT_EQ(open.half[1], HUGE_VAL);
  EXPECT_EQ(open.half[0], kNormalHalfWidth95 * 1e-6);
}

TEST(ParameterProfile, FindsALowerCost) {
  HeldRates held;
  held.add(2.0, 2e-4, 0.0);
  held.add(0.5, 2.1e-4, -0.4);
  EXPECT_FALSE(find_better_optimum({held.profile}));
  held.add(8.0, 2.2e-4, -3.0);
  held.add(32.0, 2.3e-4, -2.0);
  const std::optional<Mechanism> better = find_better_optimum({held.profile});
  ASSERT_TRUE(better);
  EXPECT_EQ(better->joint_parameter(0, JointParameter::kViscous).value, 2.2e-4);
}

// Only decay rates are limited to a factor per step.
TEST(ProfileIntervals, ApplyToDecayRatesOnly) {
  const Mechanism mechanism = freed(pendulum_of(sticky(0.003)), {"1.b", "1.tau_delta", "1.zeta"});
  const Eigen::VectorXd growth = FreeParameters(mechanism).step_factor_limits(mechanism);
  ASSERT_EQ(growth.size(), 3);
  EXPECT_EQ(growth[0], HUGE_VAL);
  EXPECT_EQ(growth[1], HUGE_VAL);
  EXPECT_EQ(growth[2], 4.0);
}

}  // namespace
}  // namespace estimator
