#include "estimator/calibrate/law_comparison.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <stdexcept>

#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/refusal.hpp"

namespace estimator {
namespace {

using namespace test_support;
using test_support::swing;

TEST(FrictionLaw, IsASumOfTerms) {
  const FrictionLaw law = parse_friction_law("viscous+stribeck");
  ASSERT_EQ(law.terms.size(), 2U);
  EXPECT_EQ(law.terms[0]->word, "viscous");
  EXPECT_EQ(law.terms[1]->word, "stribeck");
  EXPECT_EQ(law.parameter_count(), 4);
  EXPECT_EQ(parse_friction_law("makkar").parameter_count(), 5);
  for (const char* wrong : {"", "viscous+", "+dry", "wet", "Viscous", "dry+dry", "dry+stribeck",
                            "smooth+makkar", "viscous dry"}) {
    expect_parts(refusal<std::invalid_argument>([&] { parse_friction_law(wrong); }),
                 {"viscous+dry"});
  }
}

// The law's parameters are free and replace earlier ones. Other joints keep theirs.
TEST(FrictionLaw, ReplacesTheFrictionOfTheSelectedJoints) {
  ReferencePendulum rig{.b = 1e-3, .tau_c = 0.004};
  const FrictionScale scale{0.01, 2.0, 5.0, 4.0};
  const Mechanism drag = replace_friction_law(freed(pendulum_of(rig), {"1.tau_c"}),
                                              parse_friction_law("drag"), {0}, {scale});
  const auto value = [](const Mechanism& of, JointParameter quantity) {
    return of.joint_parameter(0, quantity).value;
  };
  EXPECT_EQ(value(drag, JointParameter::kViscous), 0.0);
  EXPECT_EQ(value(drag, JointParameter::kCoulombTorque), 0.0);
  EXPECT_FALSE(drag.joint_parameter(0, JointParameter::kCoulombTorque).free);
  EXPECT_TRUE(drag.joint_parameter(0, JointParameter::kQuadraticDrag).free);
  EXPECT_DOUBLE_EQ(value(drag, JointParameter::kQuadraticDrag), 0.01 / 4.0);
  const Mechanism both =
      replace_friction_law(pendulum_of(rig), parse_friction_law("viscous+stribeck"), {0}, {scale});
  EXPECT_DOUBLE_EQ(value(both, JointParameter::kViscous), 0.005 / 2.0) << "each makes up its share";
  EXPECT_DOUBLE_EQ(value(both, JointParameter::kCoulombTorque), 0.005);
  EXPECT_LT(both.joint_parameter(0, JointParameter::kStribeckTorque).lower, 0.0);
  const Mechanism load =
      replace_friction_law(pendulum_of(rig), parse_friction_law("load"), {0}, {scale});
  EXPECT_DOUBLE_EQ(value(load, JointParameter::kLoadFriction), 0.01 / 4.0);
  const Mechanism none = replace_friction_law(freed(pendulum_of(rig), {"1.b"}),
                                              parse_friction_law("dry"), {}, {scale});
  EXPECT_EQ(value(none, JointParameter::kViscous), rig.b);
  EXPECT_TRUE(none.joint_parameter(0, JointParameter::kViscous).free);
}

TEST(FrictionLaw, DoesNotReplaceDependentParameters) {
  Mechanism mechanism = pendulum_of({});
  mechanism.dependencies.push_back(
      {mechanism.joint_parameter_index(0, JointParameter::kViscous), 0.001});
  EXPECT_THROW(
      (void)replace_friction_law(mechanism, parse_friction_law("dry"), {0}, {FrictionScale{}}),
      std::invalid_argument);
}

// Rigs of very different size: start values must follow the rig's scale. The friction is found
// within a factor of ten although the mechanism starts with none, and with a wrong inertia.
TEST(FrictionScales, ScaleWithTheSizeOfTheRig) {
  for (const double size : {1e-4, 1.0, 1e3}) {
    SCOPED_TRACE(size);
    ReferencePendulum rig;
    rig.m *= size;
    rig.J *= size;
    rig.b = 1e-3 * size;
    Mechanism mechanism = pendulum_of(rig);
    mechanism.parameter(0, BodyParameter::kMass).value = rig.m;
    set_inertia(mechanism, 0, {rig.J, rig.J, 1.2 * rig.J});
    mechanism.joint_parameter(0, JointParameter::kViscous).value = 0.0;
    const auto scales =
        estimate_friction_scales(mechanism, {swing(rig, "a", 1.5, 600, 5e-3, 1e-4, 1)}, {});
    ASSERT_EQ(scales.size(), 1U);
    const double viscous = scales[0].torque / scales[0].speed;
    EXPECT_GT(viscous, 0.1 * rig.b);
    EXPECT_LT(viscous, 10.0 * rig.b);
    EXPECT_GT(scales[0].load, 0.3 * rig.m * rig.g);
    EXPECT_LT(scales[0].load, 3.0 * rig.m * rig.g);
  }
}

FrictionLawScore score(const std::string& law, std::vector<double> errors) {
  FrictionLawScore result;
  result.law = parse_friction_law(law);
  result.parameters = result.law.parameter_count();
  result.errors = std::move(errors);
  return result;
}

const FrictionLawScore& recommended(const FrictionLawComparison& comparison) {
  return comparison.laws.at(static_cast<std::size_t>(comparison.recommended));
}

// A law that is worse on every part of the recordings by about the same amount is worse, however
// much these parts differ. A law that is worse on some parts and better on others is not.
TEST(FrictionLawComparison, ComparesEachPartOfTheRecordings) {
  FrictionLawComparison clear;
  clear.laws = {score("viscous", {1.1, 11.3, 0.112, 110.0, 1.09}),
                score("viscous+dry", {1.0, 10.0, 0.1, 100.0, 1.0})};
  rank_friction_laws(clear);
  EXPECT_EQ(clear.laws[0].law.name, "viscous+dry");
  EXPECT_EQ(recommended(clear).law.name, "viscous+dry");
  EXPECT_EQ(clear.indistinguishable, std::vector<int>{0});
  EXPECT_NEAR(clear.laws[1].log_ratio.value, std::log(1.106), 0.002);
  EXPECT_GT(clear.laws[1].log_error.deviation, 10.0 * clear.laws[1].log_ratio.deviation);

  FrictionLawComparison open;
  open.laws = {score("viscous+dry", {1.0, 1.0, 1.0, 1.0, 1.0}),
               score("viscous", {0.9, 1.2, 1.1, 0.9, 1.05})};
  rank_friction_laws(open);
  EXPECT_EQ(open.laws[0].law.name, "viscous+dry") << "by a little";
  EXPECT_EQ(recommended(open).law.name, "viscous") << "the simplest of indistinguishable laws";
  EXPECT_EQ(open.indistinguishable, (std::vector<int>{0, 1}));

  // Worse by 3.9 ± 3 %: not distinguishable, and not preferred for its simplicity.
  FrictionLawComparison between;
  between.laws = {score("viscous+dry", {1.0, 1.0, 1.0, 1.0, 1.0}),
                  score("load", {1.09, 0.985, 1.002, 0.986, 1.137})};
  rank_friction_laws(between);
  EXPECT_EQ(recommended(between).law.name, "viscous+dry");
  EXPECT_EQ(between.indistinguishable, (std::vector<int>{0, 1}));

  // Always worse, but by a thousandth at most: irrelevant.
  FrictionLawComparison same;
  same.laws = {score("viscous+dry", {1.0, 1.0, 1.0}), score("dry", {1.0008, 1.0009, 1.0007})};
  rank_friction_laws(same);
  EXPECT_EQ(recommended(same).law.name, "dry");
  same.laws = {score("viscous+dry", {1.0, 1.0, 1.0}), score("dry", {1.0018, 1.0019, 1.0017})};
  rank_friction_laws(same);
  EXPECT_EQ(recommended(same).law.name, "viscous+dry");

  FrictionLawComparison even;
  even.laws = {score("load", {1.0, 1.0, 1.0}), score("dry", {1.1, 0.9, 1.2})};
  even.laws[0].order = 2;
  even.laws[1].order = 1;
  rank_friction_laws(even);
  EXPECT_EQ(recommended(even).law.name, "dry") << "of laws as simple the first in the list";
}

TEST(FrictionLawComparison, RanksLawsWithoutResultLast) {
  FrictionLawComparison comparison;
  comparison.laws = {score("dry", {NAN, NAN}), score("load", {2.0, 2.2}),
                     score("drag", {1.0, 1.1})};
  comparison.laws[0].failure = "was refused";
  rank_friction_laws(comparison);
  EXPECT_EQ(comparison.laws[0].law.name, "drag");
  EXPECT_EQ(comparison.laws[2].law.name, "dry");
  EXPECT_EQ(recommended(comparison).law.name, "drag");
  FrictionLawComparison none;
  none.laws = {comparison.laws[2]};
  rank_friction_laws(none);
  EXPECT_EQ(none.recommended, -1);
}

std::vector<Recording> swings(const ReferencePendulum& rig) {
  return {swing(rig, "a", 1.0, 600, 5e-3, 1e-3, 1), swing(rig, "b", 0.6, 600, 5e-3, 1e-3, 2),
          swing(rig, "c", 1.4, 600, 5e-3, 1e-3, 3), swing(rig, "d", 0.8, 600, 5e-3, 1e-3, 4)};
}

FrictionLawComparison compare(const ReferencePendulum& rig, const std::vector<std::string>& laws) {
  FrictionLawComparisonOptions choice;
  choice.laws.clear();
  for (const std::string& law : laws) choice.laws.push_back(parse_friction_law(law));
  return compare_friction_laws(freed(pendulum_of(rig), {"P.J_zz"}), swings(rig), choice);
}

// For data of a known law this law must be recommended, not a law with more or fewer terms.
TEST(FrictionLawComparison, RecommendsTheSimulatedLaw) {
  ReferencePendulum viscous{.b = 1e-3};
  const FrictionLawComparison simple = compare(viscous, {"viscous", "dry", "viscous+dry"});
  EXPECT_EQ(recommended(simple).law.name, "viscous");
  EXPECT_EQ(simple.laws.back().law.name, "dry");
  EXPECT_NEAR(std::exp(recommended(simple).log_error.value), 1e-3, 1e-4);
  EXPECT_EQ(simple.folds, 4);

  ReferencePendulum both{.b = 1e-3, .tau_c = 0.004, .tau_s = 0.004};
  const FrictionLawComparison mixed = compare(both, {"viscous", "dry", "viscous+dry"});
  EXPECT_EQ(recommended(mixed).law.name, "viscous+dry");
  EXPECT_EQ(mixed.indistinguishable, std::vector<int>{0});
}

// A superfluous term ends at its bound, and the law reduces to the one without it.
TEST(FrictionLawComparison, ReportsTheReducedLaw) {
  ReferencePendulum dry{.tau_c = 0.004, .tau_s = 0.004};
  const FrictionLawComparison comparison = compare(dry, {"dry+drag", "dry"});
  for (const FrictionLawScore& law : comparison.laws) {
    if (law.law.name != "dry+drag") continue;
    if (law.at_zero.empty()) continue;
    EXPECT_EQ(law.at_zero, std::vector<std::string>{"1.c"});
    EXPECT_EQ(law.reduces_to, "dry");
  }
  EXPECT_EQ(recommended(comparison).law.name, "dry");
}

TEST(FrictionLawComparison, StopsOnRequestAndNeedsPieces) {
  const ReferencePendulum rig;
  const std::atomic<bool> stop{true};
  CalibrationMonitor monitor;
  monitor.stop = &stop;
  const Mechanism mechanism = freed(pendulum_of(rig), {"P.J_zz"});
  EXPECT_TRUE(compare_friction_laws(mechanism, swings(rig), {}, {}, monitor).stopped);
  EXPECT_THROW((void)compare_friction_laws(mechanism, {swings(rig).front()}, {}),
               std::invalid_argument);
}

}  // namespace
}  // namespace estimator
