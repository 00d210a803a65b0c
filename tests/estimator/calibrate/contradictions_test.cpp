#include "estimator/assessment/model_test/score_tests.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/calibrate/continued_calibration.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/note_text.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kNoise = 1e-3;   // [rad]
constexpr double kPeriod = 2e-3;  // [s]
constexpr int kSamples = 4000;
constexpr double kLonger = 1.003;

const std::vector<std::string> kFree = {"A.J_zz", "B.J_yy", "B.J_zz", "1.b", "2.b", "1.K"};

Recording recorded(double quantum = 0.0) {
  Recording recording =
      record(viscous_furuta(), Eigen::Vector4d(0.0, 0.3, 0.0, 0.0), three_sines(kSamples, kPeriod),
             kPeriod, quantum > 0.0 ? 0.0 : kNoise, 4);
  if (quantum > 0.0) {
    Eigen::MatrixXd& angles = recording.segments[0].angles;
    angles = (angles / quantum).array().round() * quantum;
  }
  return recording;
}

/// @param described  the rig with a wrong description
Calibration calibrate_as(const Mechanism& described, double quantum = 0.0) {
  return calibrate(described, {recorded(quantum)});
}

Mechanism described_with(double stretch, const std::vector<std::string>& free = kFree) {
  ReferenceFuruta described = viscous_furuta();
  described.L_arm *= stretch;
  Mechanism mechanism = mechanism_of(described);
  free_parameters(mechanism, free, 1.2);
  return mechanism;
}

const ContradictedParameter* find(const Calibration& calibration, const std::string& name) {
  const auto found =
      std::ranges::find(calibration.contradictions, name, &ContradictedParameter::name);
  return found == calibration.contradictions.end() ? nullptr : &*found;
}

// An arm that is described 0.3 % too long: residuals equal the noise and all parts agree, so that
// only the score test finds this error.
void expect_long_arm_is_found(const Calibration& result) {
  ASSERT_TRUE(result.refined && result.converged());
  EXPECT_GT(result.agreement.p_value, 0.01);
  const ContradictedParameter* arm = find(result, "2.a_x");
  ASSERT_NE(arm, nullptr) << service::format_verdict(result.verdict);
  EXPECT_DOUBLE_EQ(arm->kept, parameter_of(described_with(kLonger), "2.a_x").value);
  EXPECT_EQ(arm->unit, "m");
  EXPECT_NEAR(arm->value, parameter_of(described_with(1.0), "2.a_x").value,
              4.0 * arm->standard_deviation);
  EXPECT_LT(arm->standard_deviation, 0.25 * (kLonger - 1.0) * viscous_furuta().L_arm);
  EXPECT_GT(arm->shift, 1.0);
  EXPECT_NE(std::ranges::find(kFree, arm->moved), kFree.end());
  EXPECT_EQ(result.verdict.kind, VerdictKind::kApproximate);
  EXPECT_NE(service::format_verdict(result.verdict).find("the recordings contradict the rig file"),
            std::string::npos)
      << service::format_verdict(result.verdict);
  EXPECT_NE(text_of_notes(result.notes).find("2.a_x"), std::string::npos)
      << text_of_notes(result.notes);
}

TEST(Contradictions, FindAnArmThatIsSlightlyTooLong) {
  expect_long_arm_is_found(calibrate_as(described_with(kLonger)));
}

TEST(Contradictions, FindAWrongLengthInQuantizedReadings) {
  expect_long_arm_is_found(calibrate_as(described_with(kLonger), 2e-3));
}

TEST(Contradictions, AreNotReportedForACorrectDescription) {
  for (const double quantum : {0.0, 2e-3}) {
    const Calibration result = calibrate_as(described_with(1.0), quantum);
    EXPECT_TRUE(result.contradictions.empty()) << service::format_verdict(result.verdict);
    EXPECT_EQ(result.verdict.kind, VerdictKind::kAccepted)
        << service::format_verdict(result.verdict);
  }
}

// Estimated parameters are never reported as contradictions.
TEST(Contradictions, ConcernFixedParametersOnly) {
  std::vector<std::string> free = kFree;
  free.emplace_back("2.a_x");
  Mechanism described = described_with(kLonger, free);
  Parameter& arm = parameter_of(described, "2.a_x");
  arm.value = parameter_of(described_with(kLonger), "2.a_x").value;
  const Calibration result = calibrate_as(described);
  EXPECT_TRUE(result.contradictions.empty()) << service::format_verdict(result.verdict);
  EXPECT_EQ(result.verdict.kind, VerdictKind::kAccepted) << service::format_verdict(result.verdict);
}

// A motor gain fixed 1 % too low, and friction fixed at zero.
TEST(Contradictions, ReportGainsAndFriction) {
  Mechanism described = described_with(1.0, {"A.J_zz", "B.J_yy", "B.J_zz", "1.b", "2.b"});
  Parameter& gain = parameter_of(described, "1.K");
  gain.value *= 0.99;
  const Calibration weak = calibrate_as(described);
  const ContradictedParameter* of_gain = find(weak, "1.K");
  ASSERT_NE(of_gain, nullptr) << service::format_verdict(weak.verdict);
  EXPECT_NEAR(of_gain->value, viscous_furuta().K, 4.0 * of_gain->standard_deviation);

  described = described_with(1.0, {"A.J_zz", "B.J_yy", "B.J_zz", "1.b", "1.K"});
  Parameter& friction = parameter_of(described, "2.b");
  friction.value = 0.7 * viscous_furuta().b_2;
  const Calibration easy = calibrate_as(described);
  const ContradictedParameter* of_friction = find(easy, "2.b");
  ASSERT_NE(of_friction, nullptr) << service::format_verdict(easy.verdict);
  EXPECT_NEAR(of_friction->value, viscous_furuta().b_2, 4.0 * of_friction->standard_deviation);
}

TEST(Contradictions, ReportEquivalentExplanations) {
  ContradictedParameter first{.name = "2.a_x",
                              .unit = "m",
                              .kept = 0.2,
                              .value = 0.19,
                              .standard_deviation = 0.001,
                              .decrease = 100.0,
                              .moved = "B.J_yy",
                              .shift = 3.4};
  ContradictedParameter second = first, third = first;
  second.name = "1.b_x";
  second.decrease = 90.0;
  third.name = "1.c";
  third.decrease = 70.0;
  EXPECT_EQ(service::format_message(make_contradiction_note({first, second, third})),
            "the recordings contradict the rig file: 2.a_x is fixed at 0.2 m, but the readings fit "
            "0.1900 ± 0.0010 m, and the fixed value shifts B.J_yy by 3.4 standard deviations; the "
            "wrong value may instead be 1.b_x; measure 2.a_x again, or estimate it");
  EXPECT_EQ(make_contradiction_note({first}).find("alternatives"), nullptr);
}

// Two readings of a line y = a + b t at t = 0 and 1: errors 1 and 3, standard deviations 1 and 2.
TEST(GaussNewtonStep, MatchesLinearLeastSquares) {
  ParameterInformation information;
  const Eigen::Matrix2d first = (Eigen::Matrix2d() << 1.0, 0.0, 0.0, 0.0).finished();
  const Eigen::Matrix2d second = Eigen::Matrix2d::Ones();
  information.group_schur = {first, second};
  information.schur = first + second;
  information.group_score = {Eigen::Vector2d(1.0, 0.0), Eigen::Vector2d(3.0, 3.0)};
  const Eigen::Matrix2d spread = 1.0 * first + 4.0 * second;
  const GaussNewtonStep both = compute_gauss_newton_step(information, spread, {0, 1});
  EXPECT_TRUE(both.change.isApprox(Eigen::Vector2d(1.0, 2.0), 1e-12));
  EXPECT_TRUE(both.deviation.isApprox(Eigen::Vector2d(1.0, std::sqrt(5.0)), 1e-12));
  EXPECT_NEAR(both.decrease, 10.0, 1e-12);
  EXPECT_EQ(both.rank, 2);
  const GaussNewtonStep slope = compute_gauss_newton_step(information, spread, {1});
  EXPECT_NEAR(slope.change[0], 3.0, 1e-12);
  EXPECT_NEAR(slope.deviation[0], 2.0, 1e-12);
  EXPECT_EQ(slope.rank, 1);
  information.schur = second;  // only the sum is identifiable
  information.group_score = {Eigen::Vector2d(0.0, 0.0), Eigen::Vector2d(3.0, 3.0)};
  const GaussNewtonStep sum = compute_gauss_newton_step(information, second, {0, 1});
  EXPECT_EQ(sum.rank, 1);
  EXPECT_NEAR(sum.change.sum(), 3.0, 1e-12);
}

// The effect of an error of 1 % agrees with the difference of two fits, also for a gain and
// gravity.
TEST(FixedValueEffects, AgreeWithFitsOfAChangedDescription) {
  const Mechanism described = described_with(1.0);
  const Calibration reference = calibrate_as(described);
  ASSERT_TRUE(reference.converged());
  ASSERT_GE(reference.fixed_value_effects.size(), 4U);
  EXPECT_TRUE(std::ranges::is_sorted(reference.fixed_value_effects, std::ranges::greater(),
                                     &FixedValueEffect::deviations));
  const auto estimate = [](const Calibration& calibration, const std::string& name) {
    return *std::ranges::find(calibration.parameters, name, &ParameterEstimate::name);
  };
  for (const FixedValueEffect& effect : reference.fixed_value_effects) {
    SCOPED_TRACE(effect.name + " changes " + effect.moved);
    Mechanism wrong = described;
    parameter_of(wrong, effect.name).value *= 1.001;  // small, so that effects are linear
    const double change = 10.0 * (estimate(calibrate_as(wrong), effect.moved).value -
                                  estimate(reference, effect.moved).value);
    EXPECT_NEAR(effect.change, change, 0.02 * std::abs(change));
    const double deviation = estimate(reference, effect.moved).standard_deviation;
    EXPECT_NEAR(effect.deviations, std::abs(change) / deviation, 0.3 * effect.deviations);
    EXPECT_GT(effect.deviations, 1.0);
  }
}

// Fixed values with a tolerance widen intervals by the difference between two fits, and leave
// standard deviations due to noise and estimates as they are.
TEST(FixedValueEffects, OfTolerancesWidenIntervals) {
  constexpr double kTolerance = 0.02;
  const Calibration reference = calibrate_as(described_with(1.0));
  ASSERT_FALSE(reference.fixed_value_effects.empty());
  const FixedValueEffect& largest = reference.fixed_value_effects.front();
  Mechanism tolerant = described_with(1.0), wrong = tolerant;
  parameter_of(tolerant, largest.name).tolerance = kTolerance;
  parameter_of(wrong, largest.name).value *= 1.001;  // small, so that effects are linear
  const Calibration widened = calibrate_as(tolerant), changed = calibrate_as(wrong);
  ASSERT_EQ(widened.parameters.size(), reference.parameters.size());
  double widest = 0.0;
  for (std::size_t i = 0; i < widened.parameters.size(); ++i) {
    const ParameterEstimate &before = reference.parameters[i], &after = widened.parameters[i];
    SCOPED_TRACE(after.name);
    EXPECT_EQ(after.value, before.value);
    EXPECT_EQ(after.noise_deviation, before.noise_deviation);
    const double change = 1e3 * kTolerance * (changed.parameters[i].value - before.value);
    const double half = std::hypot(before.half_interval, change);
    EXPECT_NEAR(after.half_interval, half, 0.03 * half);
    const double deviation = std::hypot(before.standard_deviation, change / 1.96);
    EXPECT_NEAR(after.standard_deviation, deviation, 0.03 * deviation);
    widest = std::max(widest, after.half_interval / before.half_interval);
  }
  EXPECT_GT(widest, 2.0);
  const auto continued = continue_calibration(tolerant, {widened}, {recorded()}, {});
  ASSERT_TRUE(continued.has_value());
  for (std::size_t i = 0; i < widened.parameters.size(); ++i) {
    const double half = widened.parameters[i].half_interval;
    EXPECT_NEAR(continued->calibration.parameters[i].half_interval, half, 0.05 * half);
  }
  EXPECT_EQ(widened.fixed_value_effects.front().name, largest.name);
  EXPECT_EQ(widened.fixed_value_effects.front().tolerance, kTolerance);
}

}  // namespace
}  // namespace estimator
