#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "estimator/assessment/quantization.hpp"
#include "estimator/design/plan_evaluator.hpp"
#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/optimize/covariance.hpp"
#include "tests/estimator/calibrate/simulated_furuta.hpp"
#include "tests/estimator/design/plan_times.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

using namespace test_support;

Mechanism planned_rig() {
  return furuta_with_free({"A.J_zz", "B.J_yy", "1.b", "1.tau_c", "1.K", "2.offset"});
}

PlanSettings facts() {
  return {.period = kPlanPeriod,
          .rate = 1.0 / kPlanPeriod,
          .motor = 0,
          .start = Eigen::Vector2d(0.1, 0.0),
          .noise = Eigen::Vector2d(1e-3, 2e-3)};
}

/// Plans side by side, each with its own tone.
Eigen::MatrixXd commands(int plans) {
  Eigen::MatrixXd commands(kPlanSamples, plans);
  for (int plan = 0; plan < plans; ++plan) {
    for (int k = 0; k < kPlanSamples; ++k) {
      commands(k, plan) = 1.5 * std::sin(2.0 * M_PI * (0.7 + 0.4 * plan) * k * kPlanPeriod);
    }
  }
  return commands;
}

/// The same as in a calibration: TᵀT of the shooting problem with one node.
ShootingProblem problem_of(const Mechanism& mechanism, const Eigen::VectorXd& command) {
  Segment segment;
  segment.period = kPlanPeriod;
  segment.angles = Eigen::MatrixXd::Zero(kPlanSamples, 2);
  segment.controls = command;
  Eigen::MatrixXd start = Eigen::MatrixXd::Zero(4, 1);
  start.topRows(2) = facts().start;
  return ShootingProblem(mechanism, {segment}, {start}, {kPlanPeriod},
                         {.step = kPlanPeriod, .interval = std::numeric_limits<double>::infinity()},
                         {.angle = facts().noise, .acceleration = Eigen::Vector2d::Ones()});
}

/// Difference between the bench's information and that of a calibration, at unit diagonal.
double difference_of(const Eigen::MatrixXd& reported, const ShootingProblem& problem) {
  const ParameterInformation information =
      compute_information(problem, {.effective_parameters = false});
  EXPECT_TRUE(information.valid);
  const Eigen::VectorXd scale = information.schur.diagonal().cwiseSqrt().cwiseInverse();
  return (scale.asDiagonal() * (reported - information.schur) * scale.asDiagonal())
      .cwiseAbs()
      .maxCoeff();
}

// Catches a wrong elimination of the start, a lost weight, exchanged columns, an offset's sign.
TEST(PlanEvaluator, MatchesACalibration) {
  const Mechanism mechanism = planned_rig();
  const PlanEvaluator bench(mechanism, facts(), 1);
  const Eigen::MatrixXd all = commands(3);
  const PlanMotion motion = bench.move(mechanism, all);
  const std::vector<PlanInformation> reported =
      bench.predict_information(mechanism, motion, {0, 2});
  ASSERT_EQ(reported.size(), 2U);
  const ShootingProblem problem = problem_of(mechanism, all.col(2));
  EXPECT_LT(difference_of(reported[1].information, problem), 1e-6);
  EXPECT_LT((reported[1].scatter - reported[1].information).norm(),
            1e-9 * reported[1].information.norm());

  // The range of the motion of the same plan.
  const Eigen::VectorXd angles = problem.predicted_angles(0).col(0).array();
  EXPECT_NEAR(motion.excursions[2].highest[0], angles.maxCoeff(), 1e-9);
  EXPECT_NEAR(motion.excursions[2].lowest[0], angles.minCoeff(), 1e-9);
}

// Delays of encoders, and dependent offsets and delays. A calibration omits the readings that a
// free delay may move outside the recording, but the bench counts them.
TEST(PlanEvaluator, IncludesEncoderDelaysAndDependentParameters) {
  const auto index = [](const Mechanism& mechanism, const char* name) {
    return mechanism.find_parameter(name);
  };
  Mechanism tied = planned_rig();
  tied.dependencies.push_back({index(tied, "1.offset"), 0.0, {{index(tied, "2.offset"), -2.0}}});
  apply_dependencies(tied);
  Mechanism late = furuta_with_free({"B.J_yy", "1.b", "1.K"});
  const auto first = static_cast<std::size_t>(index(late, "1.encoder_delay"));
  late.parameters[first].free = true;
  late.parameters[first].lower = -kPlanPeriod;
  late.parameters[first].upper = kPlanPeriod;
  Mechanism both = late;
  both.dependencies.push_back(
      {index(both, "2.encoder_delay"), 0.0, {{index(both, "1.encoder_delay"), 0.5}}});
  apply_dependencies(both);
  const int second = index(both, "2.encoder_delay");
  both.parameters[static_cast<std::size_t>(second)].lower = -kPlanPeriod;
  both.parameters[static_cast<std::size_t>(second)].upper = kPlanPeriod;
  const Eigen::MatrixXd command = commands(1);
  const struct {
    const Mechanism& mechanism;
    double tolerance;
  } cases[] = {{tied, 1e-6}, {late, 0.02}, {both, 0.02}};
  for (const auto& [mechanism, tolerance] : cases) {
    const PlanEvaluator bench(mechanism, facts(), 1);
    const Eigen::MatrixXd reported =
        bench.predict_information(mechanism, bench.move(mechanism, command), {0})[0].information;
    EXPECT_LT(difference_of(reported, problem_of(mechanism, command.col(0))), tolerance);
  }
}

// Effect of quantization errors on the estimate, compared with a calibration with more harmonics.
// Above all a sensor's errors repeat with its motion. The second sensor is coarser.
TEST(PlanEvaluator, AccountsForQuantizationErrors) {
  const Mechanism mechanism = planned_rig();
  PlanSettings counted = facts();
  counted.quantum = Eigen::Vector2d(2e-3, 2.0 * M_PI / 4096.0);
  counted.noise = counted.quantum / std::sqrt(12.0);
  const PlanEvaluator bench(mechanism, counted, 1);
  const Eigen::MatrixXd command = 0.2 * commands(1);
  const PlanInformation reported =
      bench.predict_information(mechanism, bench.move(mechanism, command), {0})[0];

  ShootingProblem problem = problem_of(mechanism, command.col(0));
  problem.set_noise_levels({.angle = counted.noise, .acceleration = Eigen::Vector2d::Ones()});
  const QuantizationErrors errors =
      compute_quantization_errors(problem, {{0, counted.quantum[0]}, {1, counted.quantum[1]}});
  const Eigen::MatrixXd expected = errors.scatter[0] + errors.scatter[1];
  const Eigen::MatrixXd inverse = reported.information.inverse();
  const Eigen::VectorXd a = (inverse * reported.scatter * inverse).diagonal().cwiseSqrt();
  const Eigen::VectorXd b = (inverse * expected * inverse).diagonal().cwiseSqrt();
  const Eigen::VectorXd white = inverse.diagonal().cwiseSqrt();
  for (Eigen::Index i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 0.02 * b[i]) << i;
  EXPECT_GT((b.array() / white.array()).maxCoeff(), 1.5);

  // Readings between commands: the motion goes on there as at commands.
  counted.rate *= 4.0;
  PlanSettings fine = counted;
  fine.period /= 4.0;
  Eigen::MatrixXd held(4 * kPlanSamples - 3, 1);
  for (Eigen::Index k = 0; k < held.rows(); ++k) held(k, 0) = command(k / 4, 0);
  const auto deviations = [&](const PlanSettings& those, const Eigen::MatrixXd& commanded) {
    const PlanEvaluator own(mechanism, those, 1);
    const PlanInformation all =
        own.predict_information(mechanism, own.move(mechanism, commanded), {0})[0];
    const Eigen::MatrixXd S = all.information.inverse();
    return Eigen::VectorXd((S * all.scatter * S).diagonal().cwiseSqrt());
  };
  const Eigen::VectorXd between = deviations(counted, command), each = deviations(fine, held);
  for (Eigen::Index i = 0; i < each.size(); ++i) {
    EXPECT_NEAR(between[i], each[i], 0.02 * each[i]) << i;
  }
}

// A reading rate above the command rate counts as that many more readings.
TEST(PlanEvaluator, CountsReadingsBetweenCommands) {
  const Mechanism mechanism = planned_rig();
  PlanSettings dense = facts();
  dense.rate *= 4.0;
  const PlanEvaluator once(mechanism, facts(), 1), four(mechanism, dense, 1);
  const auto reported = [&](const PlanEvaluator& bench) {
    return bench.predict_information(mechanism, bench.move(mechanism, commands(1)), {0})[0]
        .information;
  };
  const Eigen::MatrixXd a = reported(once), b = reported(four);
  // The start's own prior counts once, with almost no weight.
  EXPECT_NEAR(b(0, 0) / a(0, 0), 4.0, 1e-3);
  EXPECT_NEAR(b(4, 4) / a(4, 4), 4.0, 1e-3);
}

// A motion close to the upright amplifies the error of the start.
TEST(PlanEvaluator, ReportsTheAmplificationOfInitialErrors) {
  Mechanism mechanism = make_pendulum({.motorised = true});
  mechanism.joint_parameter(0, JointParameter::kMotorGain).value = 1.0;
  mechanism.joint_parameter(0, JointParameter::kMotorGain).free = true;
  const auto initial_state_sensitivity = [&](double start) {
    const PlanEvaluator bench(mechanism,
                              {.period = kPlanPeriod,
                               .rate = 250.0,
                               .start = Eigen::VectorXd::Constant(1, start),
                               .noise = Eigen::VectorXd::Constant(1, 1e-3)},
                              1);
    const Eigen::MatrixXd quiet = Eigen::MatrixXd::Zero(kPlanSamples, 1);
    return bench.predict_information(mechanism, bench.move(mechanism, quiet), {0})[0]
        .initial_state_sensitivity;
  };
  EXPECT_LT(initial_state_sensitivity(0.3), 1.5);
  EXPECT_GT(initial_state_sensitivity(M_PI - 1e-4), 100.0);
}

// Feedback must use the motion that its own commands cause, with a delayed motor and with a mimic
// joint, and rates as differences over the window. Catches a command that acts one sample early or
// late, and a plan that gets another's motion.
TEST(PlanEvaluator, DrivesPlansByFeedback) {
  Mechanism mechanism = planned_rig();
  mechanism.joint_parameter(0, JointParameter::kInputDelay).value = 1.6 * kPlanPeriod;
  Mechanism geared = mechanism;
  geared.mimic_joints.push_back({.joint = 1, .follows = 0, .ratio = -0.7});
  for (const Mechanism& rig : {mechanism, geared}) {
    PlanSettings start = facts();
    constexpr Eigen::Index kWindow = 3;
    start.rate_window = kWindow * kPlanPeriod;
    if (!rig.mimic_joints.empty()) start.start[1] = -0.07;
    const PlanEvaluator bench(rig, start, 1);
    constexpr int kPlans = 3;
    std::vector<Eigen::MatrixXd> joints(kPlans, Eigen::MatrixXd(kPlanSamples, 2)), rates = joints;
    const Eigen::MatrixXd driven = bench.simulate_feedback_law(
        rig, kPlanSamples, kPlans,
        [&](Eigen::Index plan, Eigen::Index sample, const Eigen::VectorXd& at,
            const Eigen::VectorXd& v) {
          joints[static_cast<std::size_t>(plan)].row(sample) = at;
          rates[static_cast<std::size_t>(plan)].row(sample) = v;
          return 2.0 + 0.5 * static_cast<double>(plan) - 2.0 * at[0] - 0.1 * v[1];
        });
    const PlanMotion motion = bench.move(rig, driven);
    EXPECT_EQ(driven.row(kPlanSamples - 1).cwiseAbs().maxCoeff(), 0.0);
    for (std::size_t plan = 0; plan < kPlans; ++plan) {
      EXPECT_GT(motion.joints[plan].col(1).cwiseAbs().maxCoeff(), 0.05);
      const auto seen = joints[plan].topRows(kPlanSamples - 1);
      EXPECT_LT((seen - motion.joints[plan].topRows(kPlanSamples - 1)).cwiseAbs().maxCoeff(), 1e-7);
      for (Eigen::Index k = 0; k + 1 < kPlanSamples; ++k) {
        const Eigen::Index before = std::min(k, kWindow);
        if (before == 0) {
          EXPECT_EQ(rates[plan].row(k).cwiseAbs().maxCoeff(), 0.0);
          continue;
        }
        const Eigen::RowVectorXd expected =
            (seen.row(k) - seen.row(k - before)) / (static_cast<double>(before) * kPlanPeriod);
        EXPECT_LT((rates[plan].row(k) - expected).cwiseAbs().maxCoeff(), 1e-9) << plan << ", " << k;
      }
    }
  }
}

// An encoder that counts coarsely feeds back whole counts, and rates in counts per window.
TEST(PlanEvaluator, FeedsBackWholeCounts) {
  PlanSettings coarse = facts();
  coarse.quantum[0] = 0.02;
  coarse.rate_window = 2.0 * kPlanPeriod;
  const PlanEvaluator bench(planned_rig(), coarse, 1);
  double moved = 0.0;
  (void)bench.simulate_feedback_law(
      planned_rig(), kPlanSamples, 1,
      [&](Eigen::Index, Eigen::Index, const Eigen::VectorXd& at, const Eigen::VectorXd& v) {
        const double counts = at[0] / 0.02;
        EXPECT_NEAR(counts, std::round(counts), 1e-9);
        const double steps = v[0] * coarse.rate_window / 0.02;
        EXPECT_NEAR(steps, std::round(2.0 * steps) / 2.0, 1e-9);
        moved = std::max(moved, std::abs(at[0]));
        return 2.0;
      });
  EXPECT_GT(moved, 0.1);
}

// Readings with white noise: the prediction is S⁻¹ with the prior added, apart from the estimation
// of the start from the readings.
TEST(PlanPrediction, AddsInformationToThePrior) {
  const Mechanism mechanism = planned_rig();
  const PlanEvaluator bench(mechanism, facts(), 1);
  const Eigen::MatrixXd command = commands(1);
  const Eigen::MatrixXd information =
      bench.predict_information(mechanism, bench.move(mechanism, command), {0})[0].information;
  Eigen::MatrixXd known = Eigen::MatrixXd::Zero(information.rows(), information.cols());
  known(2, 2) = 4.0 * information(2, 2);

  Segment run;
  run.period = kPlanPeriod;
  run.controls = command;
  run.angles = problem_of(mechanism, command).predicted_angles(0);
  const ParameterUncertainty predicted = predict_plan_uncertainty(
      mechanism, {}, run, facts().noise, Eigen::Vector2d::Zero(), known, 1);
  const Eigen::MatrixXd expected = (information + known).inverse();
  for (Eigen::Index i = 0; i < expected.rows(); ++i) {
    EXPECT_NEAR(predicted.standard_deviation[i], std::sqrt(expected(i, i)),
                0.05 * std::sqrt(expected(i, i)))
        << i;
  }
}

// A pendulum whose zero is upright does not rest there, but one held by friction rests where it is.
TEST(RestingStart, IsTheStableEquilibrium) {
  const Eigen::VectorXd open =
      Eigen::VectorXd::Constant(1, std::numeric_limits<double>::quiet_NaN());
  Mechanism pendulum = make_pendulum({.motorised = true});
  pendulum.joint_parameter(0, JointParameter::kCoulombTorque).value = 0.01;
  EXPECT_NEAR(compute_resting_coordinates(pendulum, open)[0], 0.0, 1e-9);
  EXPECT_NEAR(simulate_release_to_rest(pendulum, Eigen::VectorXd::Constant(1, 0.02))[0], 0.02,
              1e-9);
  EXPECT_EQ(compute_resting_coordinates(pendulum, Eigen::VectorXd::Constant(1, 0.3))[0], 0.3);
  pendulum.parameter(GravityParameter::kGravity).value *= -1.0;
  EXPECT_NEAR(std::abs(compute_resting_coordinates(pendulum, open)[0]), M_PI, 0.05);
}

}  // namespace
}  // namespace estimator
