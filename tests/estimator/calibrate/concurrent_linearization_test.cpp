#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/fit/shadow/simulation_problem.hpp"
#include "estimator/fit/shadow/trajectory_problem.hpp"
#include "estimator/model/kinematics/kinematics.hpp"
#include "tests/estimator/calibrate/simulated_furuta.hpp"
#include "tests/estimator/dense_problem.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr int kNodes = 60;
constexpr double kStep = 5e-3;

Mechanism free_rig() { return furuta_with_free({"A.J_zz", "B.J_yy", "1.b", "1.K"}); }

TrajectoryData data() { return simulate_furuta(free_rig(), kNodes, kStep, 1e-3, 5); }

std::unique_ptr<LeastSquaresProblem> shooting() {
  const TrajectoryData recorded = data();
  Segment segment{.period = kStep, .angles = recorded.angles, .controls = recorded.controls};
  Eigen::MatrixXd states(4, 2);
  states << 0.3, 0.4, 1.5, 1.3, 0.5, 0.4, -1.0, -0.9;
  return std::make_unique<ShootingProblem>(
      free_rig(), std::vector<Segment>{segment}, std::vector<Eigen::MatrixXd>{states},
      std::vector<double>{0.15}, ShootingGrid{kStep, 0.1},
      ShootingNoise{Eigen::Vector2d(1e-3, 1e-3), Eigen::Vector2d(0.3, 0.5)});
}

std::unique_ptr<LeastSquaresProblem> simulation() {
  const Mechanism mechanism = free_rig();
  const std::vector<State> initial = {assemble_state(mechanism, unpack_parameters(mechanism),
                                                     Eigen::Vector2d(0.3, 1.5),
                                                     Eigen::Vector2d(0.5, -1.0))};
  StepSettings settings;
  settings.step = kStep;
  return std::make_unique<SimulationProblem>(mechanism, std::vector<TrajectoryData>{data()},
                                             initial, settings);
}

std::unique_ptr<LeastSquaresProblem> trajectory() {
  TrajectorySettings settings;
  settings.step.step = kStep;
  return std::make_unique<TrajectoryProblem>(free_rig(), std::vector<TrajectoryData>{data()},
                                             settings);
}

using Maker = std::unique_ptr<LeastSquaresProblem> (*)();

void move(LeastSquaresProblem& problem) {
  const ProblemShape shape = problem.shape();
  problem.evaluate_trial_step(
      Eigen::VectorXd::Constant(static_cast<Eigen::Index>(shape.node_count) * shape.node_size,
                                1e-4),
      Eigen::VectorXd::Constant(shape.parameter_count, 1e-5));
  problem.accept_trial_step();
}

void expect_equal(const DenseProblem& a, const DenseProblem& b) {
  EXPECT_EQ(a.residual, b.residual);
  EXPECT_EQ(a.jacobian, b.jacobian);
}

class AnyProblem : public testing::TestWithParam<Maker> {};

// The interface promises that const functions are thread-safe. Two threads linearize every block at
// once: at the start, after a step, after a return. Catches data filled in at first use, always by
// the thread sanitizer and mostly by the comparison.
TEST_P(AnyProblem, HasTheSameDerivativesInOneAndTwoThreads) {
  const std::unique_ptr<LeastSquaresProblem> shared = GetParam()(), alone = GetParam()();
  const auto compare = [&] {
    DenseProblem first, second;
    std::thread other([&] { second = stack(*shared); });
    first = stack(*shared);
    other.join();
    const DenseProblem expected = stack(*alone);
    expect_equal(first, expected);
    expect_equal(second, expected);
  };
  compare();
  for (LeastSquaresProblem* problem : {shared.get(), alone.get()}) {
    problem->save_point();
    move(*problem);
  }
  compare();
  for (LeastSquaresProblem* problem : {shared.get(), alone.get()}) {
    move(*problem);
    problem->restore_point();
  }
  compare();
}

// Evaluating a candidate must not change the derivatives at the current point.
TEST_P(AnyProblem, KeepsItsDerivativesUntilACandidateIsAccepted) {
  const std::unique_ptr<LeastSquaresProblem> problem = GetParam()();
  const DenseProblem before = stack(*problem);
  const ProblemShape shape = problem->shape();
  problem->evaluate_trial_step(
      Eigen::VectorXd::Constant(static_cast<Eigen::Index>(shape.node_count) * shape.node_size,
                                1e-3),
      Eigen::VectorXd::Zero(shape.parameter_count));
  expect_equal(stack(*problem), before);
}

INSTANTIATE_TEST_SUITE_P(All, AnyProblem, testing::Values(&shooting, &simulation, &trajectory));

}  // namespace
}  // namespace estimator
