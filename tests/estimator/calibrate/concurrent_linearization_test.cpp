#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "estimator/fit/physical/shooting/shooting_problem.hpp"
#include "estimator/fit/shadow/simulation_problem.hpp"
#include "estimator/fit/shadow/trajectory_problem.hpp"
#include "estimator/model/kinematics/kinematics.hpp"
#include "tests/estimator/calibrate/simulated_furuta.hpp"

namespace {

using estimator::LeastSquaresProblem;
using estimator::Mechanism;
using estimator::ResidualBlock;

constexpr int kNodes = 60;
constexpr double kStep = 5e-3;

Mechanism rig() { return test_support::furuta_with_free({"A.J_zz", "B.J_yy", "1.b", "1.K"}); }

estimator::TrajectoryData data() {
  return test_support::simulate_furuta(rig(), kNodes, kStep, 1e-3, 5);
}

std::unique_ptr<LeastSquaresProblem> shooting() {
  const estimator::TrajectoryData recorded = data();
  estimator::Segment segment;
  segment.period = kStep;
  segment.angles = recorded.angles;
  segment.controls = recorded.controls;
  Eigen::MatrixXd states(4, 2);
  states << 0.3, 0.4, 1.5, 1.3, 0.5, 0.4, -1.0, -0.9;
  return std::make_unique<estimator::ShootingProblem>(
      rig(), std::vector<estimator::Segment>{segment}, std::vector<Eigen::MatrixXd>{states},
      std::vector<double>{0.15}, estimator::ShootingGrid{kStep, 0.1},
      estimator::ShootingNoise{Eigen::Vector2d(1e-3, 1e-3), Eigen::Vector2d(0.3, 0.5)});
}

std::unique_ptr<LeastSquaresProblem> simulation() {
  const Mechanism mechanism = rig();
  const std::vector<estimator::State> initial = {assemble_state(
      mechanism, unpack(mechanism), Eigen::Vector2d(0.3, 1.5), Eigen::Vector2d(0.5, -1.0))};
  estimator::StepSettings settings;
  settings.step = kStep;
  return std::make_unique<estimator::SimulationProblem>(
      mechanism, std::vector<estimator::TrajectoryData>{data()}, initial, settings);
}

std::unique_ptr<LeastSquaresProblem> trajectory() {
  estimator::TrajectorySettings settings;
  settings.step.step = kStep;
  return std::make_unique<estimator::TrajectoryProblem>(
      rig(), std::vector<estimator::TrajectoryData>{data()}, settings);
}

using Maker = std::unique_ptr<LeastSquaresProblem> (*)();

std::vector<ResidualBlock> linearize_all(const LeastSquaresProblem& problem) {
  std::vector<ResidualBlock> blocks(static_cast<std::size_t>(problem.block_count()));
  for (int index = 0; index < problem.block_count(); ++index) {
    problem.linearize(index, blocks[static_cast<std::size_t>(index)]);
  }
  return blocks;
}

void move(LeastSquaresProblem& problem) {
  const estimator::ArrowLayout layout = problem.layout();
  problem.evaluate_candidate(
      Eigen::VectorXd::Constant(static_cast<Eigen::Index>(layout.node_count) * layout.node_size,
                                1e-4),
      Eigen::VectorXd::Constant(layout.arrow_size, 1e-5));
  problem.accept_candidate();
}

void expect_equal(const std::vector<ResidualBlock>& a, const std::vector<ResidualBlock>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].rows, b[i].rows);
    const Eigen::Index rows = a[i].rows;
    EXPECT_EQ(a[i].residual.head(rows), b[i].residual.head(rows)) << "block " << i;
    EXPECT_EQ(a[i].arrow_jacobian.topRows(rows), b[i].arrow_jacobian.topRows(rows));
    if (a[i].node_span == 0) continue;
    EXPECT_EQ(a[i].node_jacobian.topRows(rows), b[i].node_jacobian.topRows(rows)) << "block " << i;
  }
}

class AnyProblem : public testing::TestWithParam<Maker> {};

// The interface promises that const functions are thread-safe. Two threads linearize every block at
// once: at the start, after a step, after a return. Catches data filled in at first use, always by
// the thread sanitizer and mostly by the comparison.
TEST_P(AnyProblem, LinearizesInTwoThreadsAsInOne) {
  const std::unique_ptr<LeastSquaresProblem> shared = GetParam()(), alone = GetParam()();
  const auto compare = [&] {
    std::vector<ResidualBlock> first, second;
    std::thread other([&] { second = linearize_all(*shared); });
    first = linearize_all(*shared);
    other.join();
    const std::vector<ResidualBlock> expected = linearize_all(*alone);
    expect_equal(first, expected);
    expect_equal(second, expected);
  };
  compare();
  for (LeastSquaresProblem* problem : {shared.get(), alone.get()}) {
    problem->mark();
    move(*problem);
  }
  compare();
  for (LeastSquaresProblem* problem : {shared.get(), alone.get()}) {
    move(*problem);
    problem->restore();
  }
  compare();
}

// Evaluating a candidate must not change the derivatives at the current point.
TEST_P(AnyProblem, KeepsItsDerivativesUntilACandidateIsAccepted) {
  const std::unique_ptr<LeastSquaresProblem> problem = GetParam()();
  const std::vector<ResidualBlock> before = linearize_all(*problem);
  const estimator::ArrowLayout layout = problem->layout();
  problem->evaluate_candidate(
      Eigen::VectorXd::Constant(static_cast<Eigen::Index>(layout.node_count) * layout.node_size,
                                1e-3),
      Eigen::VectorXd::Zero(layout.arrow_size));
  expect_equal(linearize_all(*problem), before);
}

INSTANTIATE_TEST_SUITE_P(All, AnyProblem, testing::Values(&shooting, &simulation, &trajectory));

}  // namespace
