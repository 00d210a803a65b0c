#include <ceres/ceres.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>

#include "estimator/fit/shadow/trajectory_problem.hpp"
#include "estimator/optimize/arrow_factor.hpp"
#include "estimator/optimize/covariance.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"
#include "tests/estimator/calibrate/ceres_autodiff_furuta.hpp"
#include "tests/estimator/calibrate/simulated_furuta.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kCeresNoise = 1e-3;  // [rad]

LmOptions to_the_last_digit() {
  LmOptions options;
  options.cost_tolerance = 1e-15;
  options.step_tolerance = 1e-11;
  return options;
}

ceres::Solver::Options ceres_to_the_last_digit() {
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::SPARSE_NORMAL_CHOLESKY;
  options.max_num_iterations = 200;
  options.function_tolerance = 1e-16;
  options.gradient_tolerance = 1e-16;
  options.parameter_tolerance = 1e-14;
  options.logging_type = ceres::SILENT;
  return options;
}

// Joint problem of a simulated Furuta rig that starts with parameters off by `factor`.
struct Comparison {
  Mechanism mechanism;
  TrajectorySettings settings;
  TrajectoryData data;

  Comparison(Mechanism truth, int nodes, double factor, StateForm form = StateForm::kConfigurations)
      : mechanism(std::move(truth)) {
    settings.state_form = form;
    settings.state_error_weight = 1e4;
    data = simulate_furuta(mechanism, nodes, settings.step.step, kCeresNoise, 5);
    disturb_parameters(mechanism, factor);
  }
  TrajectoryProblem problem() const { return {mechanism, {data}, settings}; }
};

// Standard deviations of the parameters at the current point, as a scale for differences.
Eigen::VectorXd standard_deviations(const TrajectoryProblem& problem) {
  return compute_covariance(
             compute_information(problem),
             Eigen::VectorXd::Constant(problem.noise_group_count(), kCeresNoise * kCeresNoise))
      .standard_deviation;
}

// Ceres and the estimator solve the same problem. They must start at the same cost and end at the
// same optimum. Both stop when the cost no longer resolves a step, √1e-15 of the noise; 1e-3
// standard deviations allow thirty times that. They share nothing: every residual is written again
// and differentiated by Ceres. Catches a wrong weight, index, chain rule or derivative, errors in
// the step itself, and a solver that stops early.
TEST(TrajectoryOptimum, MatchesCeres) {
  for (const StateForm form : {StateForm::kConfigurations, StateForm::kFull}) {
    SCOPED_TRACE(form == StateForm::kFull ? "full states" : "configurations");
    Mechanism truth = furuta_with_12_parameters();
    lift_bounds(truth);
    parameter_of(truth, "2.b").prior_mean = 2e-4;
    parameter_of(truth, "2.b").prior_standard_deviation = 0.01;  // angles weigh as 1 rad: it pulls
    const Comparison comparison(truth, 400, 1.1, form);
    TrajectoryProblem problem = comparison.problem();
    const LmSummary summary = solve(problem, to_the_last_digit());
    ASSERT_TRUE(is_converged(summary.termination)) << to_string(summary.termination);

    CeresAutodiffFuruta ceres(comparison.mechanism, comparison.data, comparison.settings);
    const ceres::Solver::Summary theirs = ceres.solve(ceres_to_the_last_digit());
    EXPECT_NEAR(2.0 * theirs.initial_cost, summary.initial_cost, 1e-10 * summary.initial_cost);
    EXPECT_NEAR(2.0 * theirs.final_cost, summary.cost, 1e-8 * summary.cost) << theirs.BriefReport();
    const Eigen::VectorXd sigma = standard_deviations(problem);
    EXPECT_LT((problem.parameter_values() - ceres.parameter_values())
                  .cwiseQuotient(sigma)
                  .cwiseAbs()
                  .maxCoeff(),
              1e-3)
        << "ours   " << problem.parameter_values().transpose() << "\ntheirs "
        << ceres.parameter_values().transpose() << "\nsigma  " << sigma.transpose();
  }
}

// The same with an upper and a lower bound that exclude the free optimum by many standard
// deviations. They must be met exactly, the other parameters must be optimal given them, and the
// cost must fall outward, so that no nearby feasible point is better.
TEST(TrajectoryOptimum, LiesExactlyAtActiveBounds) {
  Mechanism truth = smooth_furuta({"A.J_zz", "B.J_yy", "1.b", "2.b", "1.K"});
  parameter_of(truth, "A.J_zz").upper = 2.9e-3;  // true 3e-3
  parameter_of(truth, "1.b").lower = 1.1e-3;     // true 1e-3
  Comparison comparison(truth, 400, 1.0);
  // The start sets the weights of the rows, so both start where Ceres must remain.
  parameter_of(comparison.mechanism, "A.J_zz").value = 2.9e-3;
  parameter_of(comparison.mechanism, "1.b").value = 1.1e-3;
  parameter_of(comparison.mechanism, "B.J_yy").value = 5e-3;
  TrajectoryProblem problem = comparison.problem();
  const LmSummary summary = solve(problem, to_the_last_digit());
  ASSERT_TRUE(is_converged(summary.termination)) << to_string(summary.termination);
  EXPECT_EQ(problem.parameter_values()[0], 2.9e-3);
  EXPECT_EQ(problem.parameter_values()[2], 1.1e-3);
  ArrowheadFactorization factor(problem.shape(), problem.max_block_rows());
  ASSERT_TRUE(factor.factorize(problem, 0.0));
  EXPECT_LT(factor.reduced_gradient()[0], 0.0);
  EXPECT_GT(factor.reduced_gradient()[2], 0.0);

  CeresAutodiffFuruta ceres(comparison.mechanism, comparison.data, comparison.settings);
  ceres.hold({0, 2});
  const ceres::Solver::Summary theirs = ceres.solve(ceres_to_the_last_digit());
  EXPECT_NEAR(2.0 * theirs.final_cost, summary.cost, 1e-8 * summary.cost) << theirs.BriefReport();
  const Eigen::VectorXd sigma = standard_deviations(problem);
  for (const int i : {1, 3, 4}) {
    EXPECT_LT(std::abs(problem.parameter_values()[i] - ceres.parameter_values()[i]),
              1e-3 * sigma[i])
        << i;
  }
}

// A start at a bound that is inactive at the optimum must lead to the same optimum as one inside.
TEST(TrajectoryOptimum, DoesNotDependOnInitialValuesAtABound) {
  Mechanism truth = furuta_with_free({"A.J_zz", "B.J_yy", "1.b", "2.b", "1.K"});
  Comparison inside(truth, 300, 1.3);
  Comparison at_bound = inside;
  for (const char* name : {"1.b", "2.b"}) {
    parameter_of(at_bound.mechanism, name).value = parameter_of(at_bound.mechanism, name).lower;
  }
  TrajectoryProblem first = inside.problem(), second = at_bound.problem();
  const LmSummary expected = solve(first, to_the_last_digit());
  const LmSummary actual = solve(second, to_the_last_digit());
  EXPECT_TRUE(is_converged(actual.termination)) << to_string(actual.termination);
  EXPECT_NEAR(actual.cost, expected.cost, 1e-9 * expected.cost);
  EXPECT_LT((first.parameter_values() - second.parameter_values())
                .cwiseQuotient(standard_deviations(first))
                .cwiseAbs()
                .maxCoeff(),
            1e-3);
}

// Two recordings of different motion share the parameters. Their joint optimum is the mean of the
// single ones weighted by information, to first order in the noise. Catches segments that are
// coupled or ignored.
TEST(TrajectoryOptimum, WeightsTwoSegmentsByInformation) {
  const Mechanism truth = furuta_with_free({"A.J_zz", "B.J_yy", "1.b", "1.K"});
  TrajectorySettings settings;
  settings.state_error_weight = 1e4;
  const double h = settings.step.step;
  const TrajectoryData first = simulate_furuta(truth, 150, h, kCeresNoise, 8);
  const TrajectoryData second = simulate_furuta(truth, 300, h, kCeresNoise, 9);
  TrajectoryProblem alone_1(truth, {first}, settings), alone_2(truth, {second}, settings);
  TrajectoryProblem both(truth, {first, second}, settings);
  for (TrajectoryProblem* problem : {&alone_1, &alone_2, &both}) {
    ASSERT_TRUE(is_converged(solve(*problem, to_the_last_digit()).termination));
  }
  const Eigen::MatrixXd S_1 = compute_information(alone_1).schur;
  const Eigen::MatrixXd S_2 = compute_information(alone_2).schur;
  const Eigen::VectorXd expected =
      (S_1 + S_2).ldlt().solve(S_1 * alone_1.parameter_values() + S_2 * alone_2.parameter_values());
  const Eigen::VectorXd sigma = standard_deviations(both);
  EXPECT_LT((both.parameter_values() - expected).cwiseQuotient(sigma).cwiseAbs().maxCoeff(), 0.05);
  // The segments differ by more than that, or the test would prove nothing.
  EXPECT_GT((alone_1.parameter_values() - alone_2.parameter_values())
                .cwiseQuotient(sigma)
                .cwiseAbs()
                .maxCoeff(),
            0.5);
}

}  // namespace
}  // namespace estimator
