#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "estimator/design/design.hpp"
#include "estimator/fit/free_parameters.hpp"
#include "service/messages/message_text.hpp"
#include "tests/estimator/calibrate/simulated_furuta.hpp"
#include "tests/estimator/design/plan_times.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr int kTones = 4;

DesignTask task() {
  DesignTask task;
  task.mechanism = furuta_with_free({"A.J_zz", "B.J_yy", "1.b", "2.b", "1.K", "1.tau_c"});
  const FreeParameters free(task.mechanism);
  const Eigen::VectorXd values = free.parameter_values(task.mechanism);
  task.knowledge = compute_estimate_information(
      task.mechanism, Eigen::MatrixXd((0.05 * values).cwiseAbs2().asDiagonal()));
  for (int i = 0; i < free.size(); ++i) task.targets.push_back({i, 0.01 * std::abs(values[i])});
  task.facts = {.period = kPlanPeriod,
                .rate = 1000.0,
                .motor = 0,
                .start = Eigen::Vector2d::Zero(),
                .noise = Eigen::Vector2d(1e-3, 1e-3)};
  task.limits = {.command_max = 3.0,
                 .command_slew_per_s_max = 100.0,
                 .sensors = {{-20.0, 20.0, 30.0}, {-20.0, 20.0, 40.0}}};
  task.signals.resize(kPlanSamples, 2 * kTones);
  for (int k = 0; k < kPlanSamples; ++k) {
    for (int i = 0; i < kTones; ++i) {
      const double angle = 2.0 * M_PI * (0.5 + 0.6 * i) * k * kPlanPeriod;
      task.signals(k, 2 * i) = std::sin(angle);
      task.signals(k, 2 * i + 1) = std::cos(angle);
    }
  }
  return task;
}

TEST(DesignPlan, StaysWithinTheLimitsAndBeatsRandomPlans) {
  const DesignTask own = task();
  const ExperimentDesign screened = optimize_experiment_plan(own, {.screens = 2, .rounds = 0});
  const ExperimentDesign design = optimize_experiment_plan(own, {.screens = 2, .rounds = 15});
  ASSERT_GT(design.plan.size(), 0);
  EXPECT_LT(design.worst, 0.9 * screened.worst);
  // A search ends with the first plans that are good enough.
  const ExperimentDesign enough = optimize_experiment_plan(
      own, {.screens = 2, .rounds = 15, .enough = 0.5 * (design.worst + screened.worst)});
  EXPECT_LE(enough.worst, 0.5 * (design.worst + screened.worst));
  EXPECT_GT(enough.worst, design.worst);
  const PlanEvaluator bench(own.mechanism, own.facts, 1);
  const Eigen::VectorXd command = compute_limited_commands(own, bench, own.mechanism, design.plan);
  EXPECT_LE(command.cwiseAbs().maxCoeff(), own.limits.command_max * (1.0 + 1e-12));
  const auto steps = command.size() - 1;
  EXPECT_LE((command.tail(steps) - command.head(steps)).cwiseAbs().maxCoeff(),
            own.limits.command_slew_per_s_max * kPlanPeriod * (1.0 + 1e-12));
  EXPECT_TRUE(is_reliable_plan(own, design.plan, 50, 2));
  DesignTask narrow = own;
  narrow.limits.sensors[1].fastest = 1e-9;
  EXPECT_FALSE(is_reliable_plan(narrow, design.plan, 50, 2));
}

/// Feedback of the pendulum's speed, with a gain that is the plan.
DesignTask feedback_task() {
  DesignTask own = task();
  own.signals.resize(kPlanSamples, 0);
  own.law = FeedbackLaw{
      .command =
          [](const Eigen::VectorXd& plan, double time, const Eigen::VectorXd&,
             const Eigen::VectorXd& rates) { return plan[0] * (time < 0.3 ? 1.0 : rates[1]); },
      .command_max = [](const Eigen::VectorXd& plan) { return std::abs(plan[0]); },
      .draw =
          [](std::mt19937_64& random) {
            return Eigen::VectorXd::Constant(1, std::normal_distribution<double>()(random));
          }};
  return own;
}

TEST(DesignPlan, FindsTheGainOfAFeedbackLaw) {
  const DesignTask own = feedback_task();
  const ExperimentDesign design = optimize_experiment_plan(own, {.screens = 1, .rounds = 5});
  ASSERT_EQ(design.plan.size(), 1);
  EXPECT_LT(design.plan[0], 0.0);  // a motion that the other sign damps has less information
  EXPECT_TRUE(is_reliable_plan(own, design.plan, 20, 2));
  const ExperimentDesign three =
      optimize_experiment_plan(own, {.screens = 1, .rounds = 5, .threads = 3});
  EXPECT_EQ(design.plan, three.plan);

  const PlanEvaluator bench(own.mechanism, own.facts, 1);
  const Eigen::MatrixXd commands = compute_limited_commands(
      own, bench, own.mechanism, (Eigen::MatrixXd(1, 2) << -0.01, -1e3).finished());
  ASSERT_EQ(commands.rows(), kPlanSamples);
  EXPECT_EQ(commands(10, 0), -0.01);
  EXPECT_EQ(commands.col(1).cwiseAbs().maxCoeff(), own.limits.command_max);
  const auto steps = commands.rows() - 1;
  EXPECT_LE((commands.topRows(steps - 1) - commands.middleRows(1, steps - 1)).cwiseAbs().maxCoeff(),
            own.limits.command_slew_per_s_max * kPlanPeriod * (1.0 + 1e-12));
}

// The sum of signals and feedback stays within the limit because the sum of signals is scaled down
// to what the feedback leaves, in the commands and in the plan that the search returns.
TEST(DesignPlan, AddsAFeedbackLawToTheSignals) {
  DesignTask own = task();
  const double most = own.limits.command_max;
  own.law = FeedbackLaw{
      .command = [most](const Eigen::VectorXd& gains, double, const Eigen::VectorXd& joints,
                        const Eigen::VectorXd&) {
        return std::clamp(-gains[0] * joints[0], -0.25 * most, 0.25 * most);
      },
      .command_max = [most](const Eigen::VectorXd&) { return 0.25 * most; },
      .draw = [](std::mt19937_64&) { return Eigen::VectorXd::Constant(1, 3.0); }};
  own.limits.command_slew_per_s_max = std::numeric_limits<double>::infinity();
  const PlanEvaluator bench(own.mechanism, own.facts, 1);
  Eigen::VectorXd plan = Eigen::VectorXd::Constant(own.signals.cols() + 1, 1e3);
  plan.tail(1).setZero();
  const Eigen::VectorXd alone = compute_limited_commands(own, bench, own.mechanism, plan);
  EXPECT_NEAR(alone.cwiseAbs().maxCoeff(), 0.75 * most, 1e-9);
  plan.tail(1).setConstant(1e3);
  const Eigen::VectorXd both = compute_limited_commands(own, bench, own.mechanism, plan);
  EXPECT_LE(both.cwiseAbs().maxCoeff(), most * (1.0 + 1e-12));
  const Eigen::Index before = kPlanSamples - 1;  // the command ends at zero
  const Eigen::VectorXd added = (both - alone).head(before).cwiseAbs();
  EXPECT_NEAR(added.maxCoeff(), 0.25 * most, 1e-9);

  const ExperimentDesign design = optimize_experiment_plan(own, {.screens = 1, .rounds = 2});
  ASSERT_EQ(design.plan.size(), plan.size());
  const Eigen::Index signals = own.signals.cols();
  EXPECT_LE((own.signals * design.plan.head(signals)).cwiseAbs().maxCoeff(),
            0.75 * most * (1.0 + 1e-12));
}

TEST(DesignPlan, DoesNotDependOnThreads) {
  const DesignTask own = task();
  const ExperimentDesign one =
      optimize_experiment_plan(own, {.screens = 1, .rounds = 2, .threads = 1});
  const ExperimentDesign three =
      optimize_experiment_plan(own, {.screens = 1, .rounds = 2, .threads = 3});
  EXPECT_EQ(one.plan, three.plan);
  EXPECT_EQ(one.worst, three.worst);
}

// The shaft's inertia adds to the arm's. No motion separates them, which is reported for both.
TEST(DesignPlan, ReportsUnidentifiableParameters) {
  DesignTask own = task();
  own.mechanism = furuta_with_free({"A.J_zz", "1.J_shaft", "1.b", "1.K"});
  own.knowledge = compute_prior_information(own.mechanism);
  own.targets = {{0, 1e-4}};
  const ExperimentDesign design = optimize_experiment_plan(own, {.screens = 2, .rounds = 0});
  EXPECT_EQ(design.seen.standard_deviation.array().isInf().count(), 2);
  ASSERT_EQ(design.seen.null_directions.size(), 1U);
  EXPECT_NE(service::format_message(design.seen.null_directions[0].description).find("J_shaft"),
            std::string::npos);
}

// For motions of a few counts, quantization errors are correlated and count more than white noise.
TEST(DesignPlan, AccountsForCorrelatedQuantizationErrors) {
  DesignTask white = task();
  white.limits.command_max = 0.2;
  white.facts.noise.setConstant(2.0 * M_PI / 500.0 / std::sqrt(12.0));
  DesignTask counted = white;
  counted.facts.quantum.setConstant(2.0 * M_PI / 500.0);
  const double ratio = optimize_experiment_plan(counted, {.screens = 1, .rounds = 0}).worst /
                       optimize_experiment_plan(white, {.screens = 1, .rounds = 0}).worst;
  EXPECT_GT(ratio, 1.2);
  EXPECT_LT(ratio, 5.0);
}

// The limits hold throughout, yet the pendulum's position cannot be predicted.
TEST(DesignPlan, AvoidsMotionsFromTheUprightPosition) {
  DesignTask own = task();
  own.limits.sensors = {{}, {}};
  const Eigen::VectorXd plan = Eigen::VectorXd::Constant(2 * kTones, 1e-3);
  EXPECT_TRUE(is_reliable_plan(own, plan, 20, 2));
  own.facts.start[1] = M_PI - 1e-3;
  EXPECT_FALSE(is_reliable_plan(own, plan, 20, 2));
  EXPECT_TRUE(is_reliable_plan(own, plan, 3, 2));  // with so few it may be chance
}

TEST(DesignPlan, FindsNoPlanWithinImpossibleLimits) {
  DesignTask own = task();
  own.limits.sensors[1].fastest = 1e-9;
  EXPECT_EQ(optimize_experiment_plan(own, {.screens = 1, .rounds = 1}).plan.size(), 0);
}

}  // namespace
}  // namespace estimator
