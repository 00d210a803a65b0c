
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "estimator/diagnostics/misfit/excitation.hpp"
#include "estimator/diagnostics/misfit/misfit_trials.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/reference_simulators.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kPeriod = 4e-3;  // [s]

ReferenceFuruta rig() {
  return {
      .b_1 = 2e-3, .b_2 = 2e-4, .tau_c1 = 2e-3, .K = 0.07, .k_e = 0.05, .smoothing_speed = 1e-3};
}

Recording recorded() {
  return record(rig(), {0.2, 0.5, 0.0, 0.0}, two_sines(1500, kPeriod), kPeriod, 5e-4, 5);
}

Mechanism described(const std::vector<std::string>& free) {
  Mechanism mechanism = mechanism_of(rig());
  free_parameters(mechanism, free, 1.1);
  return mechanism;
}

double value(const Mechanism& mechanism, const char* name) {
  return parameter_of(mechanism, name).value;
}

// In the seconds of a clock that is 1 % fast, 1 N is 2 % less kg·m per second squared. Every fixed
// parameter with a second in its unit scales by its power; no other changes.
TEST(ClockRate, ScalesParametersWithSecondsInTheirUnit) {
  ClockRateMechanism clocked = add_clock_rate_parameter(described({"A.J_zz", "1.b"}));
  clocked.mechanism.parameters.back().value = 0.01;
  apply_dependencies(clocked.mechanism);
  const Mechanism truth = mechanism_of(rig());
  for (const auto& [name, power] : {std::pair{"gravity.g", -2},
                                    {"1.tau_c", -2},
                                    {"2.b", -1},
                                    {"1.K", -2},
                                    {"A.m", 0},
                                    {"B.J_yy", 0},
                                    {"2.a_x", 0}}) {
    EXPECT_NEAR(value(clocked.mechanism, name), (1.0 + 0.01 * power) * value(truth, name),
                1e-12 * std::abs(value(truth, name)))
        << name;
  }
  EXPECT_NEAR(value(clocked.mechanism, "1.k_e"), 1.01 * rig().k_e, 1e-12);
  // Free parameters are estimated in the clock's seconds and converted to true ones.
  Mechanism taken = described({"A.J_zz", "1.b"});
  const double estimated = value(clocked.mechanism, "1.b");
  convert_from_clock_seconds(clocked, taken);
  EXPECT_NEAR(value(taken, "1.b"), estimated / 0.99, 1e-12);
  EXPECT_NEAR(value(taken, "A.J_zz"), value(clocked.mechanism, "A.J_zz"), 1e-15);
}

// The constant of a dependency is scaled too; the dependent terms follow by themselves.
TEST(ClockRate, ChangesTheConstantsOfDependencies) {
  Mechanism mechanism = described({"1.b"});
  const int tied = mechanism.find_parameter("2.b"), source = mechanism.find_parameter("1.b");
  mechanism.dependencies.push_back({tied, 1e-3, {{source, 2.0}}});
  ClockRateMechanism clocked = add_clock_rate_parameter(mechanism);
  clocked.mechanism.parameters.back().value = 0.02;
  apply_dependencies(clocked.mechanism);
  EXPECT_NEAR(value(clocked.mechanism, "2.b"), 0.98e-3 + 2.0 * value(mechanism, "1.b"), 1e-12);
}

// For a single pendulum a free inertia absorbs any clock rate s: only I s² is identifiable.
TEST(ClockRate, IsAbsorbedByTheInertiaOfALonePendulum) {
  ReferencePendulum pendulum{.b = 4e-4};
  const Eigen::MatrixXd motion = test_support::simulate(pendulum, {1.2, 0.0}, kPeriod, 1499);
  const Segment segment =
      undriven(motion.leftCols(1) + 5e-4 * Eigen::MatrixXd::Random(motion.rows(), 1), kPeriod);
  Mechanism mechanism = freed(pendulum_of(pendulum), {"1.b"});
  for (const bool free : {true, false}) {
    mechanism.parameter(0, BodyParameter::kJzz).free = free;
    const auto clock = predict_precision(mechanism, {{"run", {segment}}}, {}).clock;
    EXPECT_EQ(clock.deviation < kDetectableClockDeviation, !free) << clock.deviation;
    EXPECT_EQ(std::ranges::count(clock.absorbed_by, "P.J_zz"), free ? 1 : 0);
  }
}

// The product of known masses and lengths that couples arm and pendulum contains no free inertia.
TEST(ClockRate, IsIdentifiedByTheCouplingOfAFurutaPendulum) {
  const auto clock = predict_precision(
      described({"A.J_zz", "B.J_yy", "B.J_zz", "1.b", "2.b", "1.tau_c", "1.K"}), {recorded()}, {});
  EXPECT_LT(clock.clock.deviation, kDetectableClockDeviation);
  EXPECT_TRUE(clock.clock.absorbed_by.empty());
}

// When the budget is used up, no more fits are made, and this is reported.
TEST(MisfitTrials, EndWithTheComputationBudget) {
  const Mechanism mechanism = described({"A.J_zz", "1.b"});
  const std::vector<Recording> excerpts =
      select_excerpts(mechanism, {recorded()}, kMisfitExcerptLimits);
  const CalibrationMonitor monitor;
  const Eigen::Vector2d noise = Eigen::Vector2d::Constant(5e-4);
  ComputationBudget budget{0.9 * ExcerptFit(mechanism, excerpts, noise, monitor).work()};
  MisfitProblem problem{.estimate = mechanism,
                        .excerpts = excerpts,
                        .noise = noise,
                        .monitor = monitor,
                        .budget = budget};
  problem.fitted = problem.fit(mechanism);
  EXPECT_TRUE(std::isfinite(problem.fitted.cost()));
  EXPECT_LT(budget.left, 0.0);
  EXPECT_FALSE(budget.exceeded);
  EXPECT_TRUE(std::isinf(problem.fit(mechanism).cost()));
  EXPECT_TRUE(budget.exceeded);
  EXPECT_TRUE(try_misfit_causes(problem, excerpts).empty());
  // A fit that would take longer than the rest of the budget is not started.
  budget = {1.0};
  EXPECT_TRUE(std::isinf(problem.fit(mechanism).cost()));
  EXPECT_TRUE(budget.exceeded);
}

// If short intervals with free states already leave large residuals, no simulation can do better.
// It is skipped, and all other results are the same.
TEST(MisfitTrials, SkipTheSimulationIfShortIntervalsDoNotFit) {
  const Mechanism right = described({"A.J_zz", "1.b"});
  Mechanism turned = right;
  turned.joint_parameter(1, JointParameter::kPointBx).value *= -1.0;
  const std::vector<Recording> excerpts =
      select_excerpts(right, {recorded()}, kMisfitExcerptLimits);
  const auto fit = [&](const Mechanism& mechanism, double cost_max) {
    return ExcerptFit(mechanism, excerpts, Eigen::Vector2d::Constant(5e-4), {},
                      {.cost_per_reading = cost_max});
  };
  constexpr double kMost = 10.0, kAny = std::numeric_limits<double>::infinity();
  const ExcerptFit whole = fit(turned, kAny), broken_off = fit(turned, kMost);
  EXPECT_GT(whole.cost_per_reading(), kMost);
  EXPECT_TRUE(std::isinf(broken_off.cost_per_reading()));
  EXPECT_GT(broken_off.work(), 0.0);
  EXPECT_LT(broken_off.work(), whole.work());
  EXPECT_LT(fit(right, kMost).cost_per_reading(), kMost);
  EXPECT_EQ(fit(right, kMost).cost(), fit(right, kAny).cost());
}

}  // namespace
}  // namespace estimator
