#include "estimator/friction/friction_laws.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>

#include "estimator/diagnostics/misfit/excitation.hpp"
#include "estimator/model/joint_friction.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

// Properties of every friction law in the list, including ones added later.

namespace estimator {
namespace {

/// A joint of that type with friction of every law.
Mechanism with_every_law(JointKind kind) {
  Mechanism mechanism = make_pendulum();
  mechanism.joints[0].kind = kind;
  make_parameters(mechanism);
  for (int place = 0; place < FrictionLaws::kQuantityCount; ++place) {
    mechanism.joint_parameter(0, friction_parameter_at(place)).value = 0.3 + 0.1 * place;
  }
  return mechanism;
}

FrictionLaws::LawParameterValues<double> laws_of(const Mechanism& mechanism) {
  return FrictionLaws::make<double>(
      [&](int place) { return mechanism.joint_parameter(0, friction_parameter_at(place)).value; });
}

/// The force of a law, of either kind.
template <typename Law>
double force_of(const Law& law, double rate, double load_force, double load_moment) {
  double force = 0.0;
  if constexpr (requires { law.rate_factor(rate); })
    force += law.rate_factor(std::abs(rate)) * rate;
  if constexpr (requires { law.torque(rate); }) force += law.torque(rate);
  if constexpr (requires { law.bound(rate); }) force += law.bound(rate);
  if constexpr (requires { law.bound(rate, rate); }) force += law.bound(load_force, load_moment);
  return force;
}

// Units must match the formula. With a clock that is fast by a fraction r, rates are lower by r and
// forces by 2 r, and a law whose quantities scale by their units gives such a force. A power that
// is off by one gives an error r, a million times the neglected r².
TEST(FrictionLaws, HaveTheUnitsOfTheirFormula) {
  constexpr double kRate = 1e-6, kSpeed = 0.7, kForce = 2.0, kMoment = 0.4;
  for (const JointKind kind : {JointKind::kRevolute, JointKind::kPrismatic}) {
    const Mechanism mechanism = with_every_law(kind);
    ClockRateMechanism clocked = add_clock_rate_parameter(mechanism);
    clocked.mechanism.parameters.back().value = kRate;
    apply_dependencies(clocked.mechanism);
    const auto truth = laws_of(mechanism), in_clock = laws_of(clocked.mechanism);
    const double by_force = 1.0 - 2.0 * kRate;
    FrictionLaws::each([&]<typename Law>(int) {
      using On = typename Law::template LawParameterValues<double>;
      const double expected = force_of(std::get<On>(truth), kSpeed, kForce, kMoment);
      EXPECT_NEAR(force_of(std::get<On>(in_clock), kSpeed * (1.0 - kRate), kForce * by_force,
                           kMoment * by_force),
                  expected * by_force, 100.0 * kRate * kRate * expected)
          << Law::kTerms[0].word;
    });
  }
}

// No law drives a joint, and a steepness is the largest slope, which is at rest.
TEST(FrictionLaws, OpposeTheMotion) {
  std::mt19937 random(5);
  std::lognormal_distribution<double> size(0.0, 1.0);
  for (int k = 0; k < 200; ++k) {
    double largest = 0.0;
    const auto laws = FrictionLaws::make<double>([&](int) {
      const double value = size(random);
      largest = std::max(largest, value);
      return value;
    });
    const double speed = size(random);
    FrictionLaws::each([&]<typename Law>(int) {
      const auto& law = std::get<typename Law::template LawParameterValues<double>>(laws);
      EXPECT_GE(force_of(law, speed, size(random), size(random)), 0.0) << Law::kTerms[0].word;
      if constexpr (IsContinuous<Law>) {
        EXPECT_EQ(law.torque(-speed), -law.torque(speed)) << Law::kTerms[0].word;
        EXPECT_LE(law.torque(speed), law.slope_at_rest() * speed * (1.0 + 1e-12))
            << Law::kTerms[0].word;
        // Third derivatives cause 1e-10, and round-off as much where one slope is far below
        // another.
        const double near = 1e-5 / largest;
        EXPECT_NEAR(law.torque(near) / near, law.slope_at_rest(), 1e-6 * law.slope_at_rest())
            << Law::kTerms[0].word;
      }
    });
  }
}

// Duplicate names would collide in rig files, results or on the command line. A term without a
// start value or size would not be compared.
TEST(FrictionLaws, HaveUniqueNamesAndCanBeCompared) {
  for (const bool slides : {false, true}) {
    std::set<std::string> fields, symbols;
    for (const FrictionParameter& quantity : kFrictionParameters) {
      EXPECT_TRUE(fields.insert(quantity.rig_file_field(slides)).second) << quantity.field;
      EXPECT_TRUE(symbols.insert(quantity.parameter_suffix(slides)).second) << quantity.symbol;
      EXPECT_NE(quantity.parameter_unit(slides), nullptr) << quantity.field;
    }
  }
  std::set<std::string_view> words;
  for (const FrictionLawTerm& term : kFrictionTerms) {
    EXPECT_TRUE(words.insert(term.word).second) << term.word;
    for (int k = 0; k < term.count; ++k) {
      const auto& quantity = kFrictionParameters[static_cast<std::size_t>(
          term.quantities[static_cast<std::size_t>(k)])];
      EXPECT_NE(quantity.start, nullptr) << term.word;
      if (k == 0) EXPECT_TRUE(quantity.is_size) << term.word;
    }
  }
}

}  // namespace
}  // namespace estimator
