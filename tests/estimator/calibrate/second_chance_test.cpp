#include "estimator/fit/physical/restarts.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

constexpr double kFastest = 10.0;  // [rad/s]
const Eigen::Vector2d kSpeeds(kFastest, 0.5 * kFastest);

Parameter& viscous(Mechanism& mechanism) {
  return mechanism.joint_parameter(0, JointParameter::kViscous);
}

Parameter& of_second(Mechanism& mechanism, JointParameter quantity) {
  return mechanism.joint_parameter(1, quantity);
}

Mechanism start() {
  Mechanism mechanism = make_furuta();
  viscous(mechanism).value = 1e-3;
  viscous(mechanism).upper = 1.0;
  viscous(mechanism).free = true;
  return mechanism;
}

// A second joint with a Stribeck excess that decays over 1 rad/s, a fifth of its fastest speed.
Mechanism with_excess() {
  Mechanism mechanism = start();
  for (const auto& [quantity, value] : {std::pair(JointParameter::kCoulombTorque, 0.02),
                                        {JointParameter::kStribeckTorque, 0.005},
                                        {JointParameter::kStribeckRate, 1.0}}) {
    of_second(mechanism, quantity).value = value;
    of_second(mechanism, quantity).free = true;
  }
  return mechanism;
}

// A parameter driven to either bound is reset to its start; all others keep their fitted values.
TEST(RestartValues, ResetParametersDrivenToBounds) {
  for (const double bound : {0.0, 1.0}) {
    Mechanism reached = start();
    viscous(reached).value = bound;
    reached.parameter(0, BodyParameter::kMass).value = 7.0;
    const auto chances = choose_restart_values(reached, start(), kSpeeds);
    ASSERT_EQ(chances.size(), 1U) << bound;
    EXPECT_EQ(chances[0].joint_parameter(0, JointParameter::kViscous).value, 1e-3);
    EXPECT_EQ(chances[0].parameter(0, BodyParameter::kMass).value, 7.0);
  }
}

// No restart if nothing was driven to a bound: inside, at one from the start, or at one but fixed.
TEST(RestartValues, KeepOtherParameters) {
  EXPECT_TRUE(choose_restart_values(start(), start(), kSpeeds).empty());
  for (const double bound : {0.0, 1.0}) {
    Mechanism began = start();
    viscous(began).value = bound;
    EXPECT_TRUE(choose_restart_values(began, began, kSpeeds).empty());
    Mechanism fixed = start();
    viscous(fixed).value = bound;
    viscous(fixed).free = false;
    EXPECT_TRUE(choose_restart_values(fixed, start(), kSpeeds).empty());
  }
}

// An excess is lost if it is zero, the same at every speed, or gone at any measurable speed, a
// thousandth of the fastest. Just slower than that it is still present.
TEST(RestartValues, RestartAVanishedStribeckExcess) {
  const auto count_with = [&](JointParameter quantity, double value) {
    Mechanism reached = with_excess();
    of_second(reached, quantity).value = value;
    Mechanism began = reached;  // so that nothing counts as driven to a bound
    return choose_restart_values(reached, began, kSpeeds).size();
  };
  EXPECT_EQ(choose_restart_values(with_excess(), with_excess(), kSpeeds).size(), 0U);
  EXPECT_EQ(count_with(JointParameter::kStribeckTorque, 0.0), 5U);
  EXPECT_EQ(count_with(JointParameter::kStribeckRate, 0.0), 5U);
  const double visible = 1.0 / std::pow(1e-3 * kSpeeds[1], 2);
  EXPECT_EQ(count_with(JointParameter::kStribeckRate, 1.01 * visible), 5U);
  EXPECT_EQ(count_with(JointParameter::kStribeckRate, 0.99 * visible), 0U);
}

// A fitted excess may belong to a local minimum. Unexplained accelerations indicate this.
TEST(RestartValues, ResetAnyExcessIfAccelerationsAreUnexplained) {
  const Mechanism reached = with_excess();
  EXPECT_EQ(choose_restart_values(reached, reached, kSpeeds, true).size(), 5U);
  Mechanism held = with_excess();
  of_second(held, JointParameter::kStribeckRate).free = false;
  EXPECT_TRUE(choose_restart_values(held, held, kSpeeds, true).empty());
}

// Requires a free excess and a joint that moved.
TEST(RestartValues, RequireAFreeStribeckExcessAtAMovingJoint) {
  for (const JointParameter quantity :
       {JointParameter::kStribeckTorque, JointParameter::kStribeckRate}) {
    Mechanism reached = with_excess();
    of_second(reached, JointParameter::kStribeckTorque).value = 0.0;
    of_second(reached, quantity).free = false;
    EXPECT_TRUE(choose_restart_values(reached, reached, kSpeeds).empty());
  }
  Mechanism reached = with_excess();
  of_second(reached, JointParameter::kStribeckTorque).value = 0.0;
  EXPECT_TRUE(choose_restart_values(reached, reached, Eigen::Vector2d(kFastest, 0.0)).empty());
}

// A tenth of τ_c that decays over 3, 10, 30, 1 and 100 % of the joint's own fastest speed.
TEST(RestartValues, TryDecayRatesOverTheSpeedsOfTheJoint) {
  Mechanism reached = with_excess();
  of_second(reached, JointParameter::kStribeckTorque).value = 0.0;
  const auto chances = choose_restart_values(reached, reached, kSpeeds);
  const double shares[] = {0.03, 0.1, 0.3, 0.01, 1.0};
  ASSERT_EQ(chances.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    Mechanism chance = chances[i];
    EXPECT_DOUBLE_EQ(of_second(chance, JointParameter::kStribeckRate).value,
                     1.0 / std::pow(shares[i] * kSpeeds[1], 2));
    EXPECT_DOUBLE_EQ(of_second(chance, JointParameter::kStribeckTorque).value, 0.002);
    EXPECT_EQ(of_second(chance, JointParameter::kCoulombTorque).value, 0.02);
  }
}

// An excess that hardly decays is part of the Coulomb torque, and is added to this torque before a
// new excess is tried. A fixed Coulomb torque is not changed.
TEST(RestartValues, TreatANonDecayingExcessAsCoulombFriction) {
  Mechanism reached = with_excess();
  Mechanism chance;
  for (const double rate : {1e-6, 0.0}) {  // at 1e-6 it loses 1e-5
    of_second(reached, JointParameter::kStribeckRate).value = rate;
    chance = choose_restart_values(reached, reached, kSpeeds).at(0);
    EXPECT_DOUBLE_EQ(of_second(chance, JointParameter::kCoulombTorque).value, 0.025) << rate;
    EXPECT_DOUBLE_EQ(of_second(chance, JointParameter::kStribeckTorque).value, 0.0025) << rate;
  }

  of_second(reached, JointParameter::kCoulombTorque).free = false;
  chance = choose_restart_values(reached, reached, kSpeeds).at(0);
  EXPECT_DOUBLE_EQ(of_second(chance, JointParameter::kCoulombTorque).value, 0.02);
  EXPECT_DOUBLE_EQ(of_second(chance, JointParameter::kStribeckTorque).value, 0.002);

  of_second(reached, JointParameter::kCoulombTorque).value = 0.0;
  chance = choose_restart_values(reached, reached, kSpeeds).at(0);
  EXPECT_DOUBLE_EQ(of_second(chance, JointParameter::kStribeckTorque).value, 0.005);
}

// A restart's values stay within the parameter's bounds.
TEST(RestartValues, RespectTheBounds) {
  Mechanism reached = with_excess();
  of_second(reached, JointParameter::kStribeckTorque).value = 0.0;
  of_second(reached, JointParameter::kStribeckTorque).upper = 1e-3;
  of_second(reached, JointParameter::kStribeckRate).lower = 0.5;
  for (Mechanism& chance : choose_restart_values(reached, reached, kSpeeds)) {
    EXPECT_EQ(of_second(chance, JointParameter::kStribeckTorque).value, 1e-3);
    EXPECT_GE(of_second(chance, JointParameter::kStribeckRate).value, 0.5);
  }
}

}  // namespace
}  // namespace estimator
