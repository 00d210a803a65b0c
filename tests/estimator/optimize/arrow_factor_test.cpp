#include "estimator/optimize/arrow_factor.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/estimator/optimize/linear_chain_problem.hpp"

namespace estimator {

void PrintTo(const ProblemShape& shape, std::ostream* out) {
  *out << shape.node_count << " nodes of " << shape.node_size << ", bandwidth " << shape.bandwidth
       << ", arrow " << shape.parameter_count;
}

}  // namespace estimator

namespace {

using estimator::ArrowheadFactorization;
using estimator::ProblemShape;
using test_support::LinearChainProblem;
using test_support::make_random_chain;

// Sizes around every edge of the kernels: below, at and above multiples of the vector, one node,
// fewer nodes than the bandwidth, no parameters, and those of the mechanisms.
const ProblemShape kLayouts[] = {
    {1, 1, 1, 0},   {1, 1, 1, 1},    {1, 6, 2, 3},   {2, 3, 1, 2},   {2, 5, 3, 4},   {3, 4, 2, 0},
    {7, 2, 3, 5},   {6, 7, 0, 3},    {9, 6, 2, 4},   {12, 5, 2, 7},  {11, 8, 3, 1},  {10, 9, 1, 13},
    {8, 12, 2, 12}, {20, 12, 1, 13}, {9, 24, 1, 13}, {6, 30, 2, 20}, {5, 60, 1, 15}, {40, 1, 2, 3}};

struct DenseNormalEquations {
  Eigen::MatrixXd H;  // damped
  Eigen::VectorXd g;
  Eigen::VectorXd scale;
};

DenseNormalEquations dense_normal_equations(const LinearChainProblem& problem, double damping) {
  const Eigen::MatrixXd J = problem.dense_jacobian();
  DenseNormalEquations dense;
  dense.H = J.transpose() * J;
  dense.g = J.transpose() * problem.dense_residual();
  dense.scale = dense.H.diagonal();
  dense.H.diagonal() += damping * dense.scale;
  return dense;
}

double relative_error(const Eigen::MatrixXd& actual, const Eigen::MatrixXd& expected) {
  if (expected.size() == 0) return 0.0;
  return (actual - expected).norm() / std::max(expected.norm(), 1e-300);
}

// All results of one elimination, and a step.
std::vector<Eigen::MatrixXd> all_of(ArrowheadFactorization& factor) {
  Eigen::VectorXd step;
  factor.compute_node_step(Eigen::VectorXd::Ones(factor.parameter_diagonal().size()), step);
  return {factor.schur(),
          factor.reduced_gradient(),
          factor.node_diagonal(),
          factor.node_gradient(),
          factor.parameter_diagonal(),
          factor.parameter_gradient(),
          step,
          Eigen::MatrixXd::Constant(1, 1, factor.predicted_node_decrease())};
}

class ArrowFactorOnLayout : public ::testing::TestWithParam<ProblemShape> {};

// Compares every quantity of the elimination with dense linear algebra. Catches a node eliminated
// too early, a block added to the wrong rows, padding that leaks, and a wrong sign. Random normal
// equations of this size have condition numbers up to about 1e5, hence 1e-9.
TEST_P(ArrowFactorOnLayout, AgreesWithDenseElimination) {
  const ProblemShape shape = GetParam();
  std::mt19937 random(1234);
  for (const bool uncoupled : {false, true}) {
    for (const double damping : {0.0, 1e-3, 10.0}) {
      SCOPED_TRACE(::testing::Message() << "uncoupled " << uncoupled << ", damping " << damping);
      const LinearChainProblem problem =
          make_random_chain(shape, random, {.uncoupled_segments = uncoupled});
      const DenseNormalEquations dense = dense_normal_equations(problem, damping);
      const Eigen::Index n = problem.node_unknowns();
      const Eigen::Index a = shape.parameter_count;
      const Eigen::LLT<Eigen::MatrixXd> Hxx(dense.H.topLeftCorner(n, n));
      const Eigen::MatrixXd Hxc = dense.H.topRightCorner(n, a);
      const Eigen::VectorXd gx = dense.g.head(n);

      ArrowheadFactorization factor(shape, problem.max_block_rows());
      ASSERT_TRUE(factor.factorize(problem, damping));
      EXPECT_LT(relative_error(factor.node_diagonal(), dense.scale.head(n)), 1e-12);
      EXPECT_LT(relative_error(factor.parameter_diagonal(), dense.scale.tail(a)), 1e-12);
      EXPECT_LT(relative_error(factor.parameter_gradient(), dense.g.tail(a)), 1e-12);
      EXPECT_LT(relative_error(factor.node_gradient(), gx), 1e-12);
      EXPECT_NEAR(factor.predicted_node_decrease(), gx.dot(Hxx.solve(gx)),
                  1e-9 * problem.dense_residual().squaredNorm());
      if (a > 0) {  // Eigen's solvers read the first column
        const Eigen::MatrixXd S =
            dense.H.bottomRightCorner(a, a) - Hxc.transpose() * Hxx.solve(Hxc);
        EXPECT_LT(relative_error(factor.schur(), S), 1e-9);
        EXPECT_LT(relative_error(factor.reduced_gradient(),
                                 dense.g.tail(a) - Hxc.transpose() * Hxx.solve(gx)),
                  1e-9);
      }

      const Eigen::VectorXd parameter_step = Eigen::VectorXd::LinSpaced(a, -1.0, 2.0);
      Eigen::VectorXd node_step;
      factor.compute_node_step(parameter_step, node_step);
      EXPECT_LT(relative_error(node_step, -Hxx.solve(gx + Hxc * parameter_step)), 1e-9);
    }
  }
}

// A second elimination with another damping must not depend on the first one, even if that stopped
// half way at a bad pivot.
TEST_P(ArrowFactorOnLayout, SweepsAreIndependent) {
  const ProblemShape shape = GetParam();
  std::mt19937 random(99);
  LinearChainProblem problem = make_random_chain(shape, random);
  ArrowheadFactorization factor(shape, problem.max_block_rows() + 3);
  ArrowheadFactorization fresh(shape, problem.max_block_rows());
  ASSERT_TRUE(factor.factorize(problem, 0.0));

  LinearChainProblem broken = problem;
  auto& blocks = broken.blocks();
  blocks[blocks.size() / 2].node_jacobian.setConstant(std::numeric_limits<double>::quiet_NaN());
  blocks[blocks.size() / 2].residual.setConstant(std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(factor.factorize(broken, 0.0));

  ASSERT_TRUE(factor.factorize(problem, 0.5));
  ASSERT_TRUE(fresh.factorize(problem, 0.5));
  EXPECT_EQ(factor.schur(), fresh.schur());
  EXPECT_EQ(factor.reduced_gradient(), fresh.reduced_gradient());
  Eigen::VectorXd step, fresh_step;
  factor.compute_node_step(Eigen::VectorXd::Ones(shape.parameter_count), step);
  fresh.compute_node_step(Eigen::VectorXd::Ones(shape.parameter_count), fresh_step);
  EXPECT_EQ(step, fresh_step);
}

// Kept blocks give the same factor as new ones to the last bit, also after a failed factorization
// and after blocks of another problem.
TEST_P(ArrowFactorOnLayout, KeptBlocksGiveTheSameFactor) {
  const ProblemShape shape = GetParam();
  std::mt19937 random(7);
  const LinearChainProblem other = make_random_chain(shape, random);
  const LinearChainProblem problem = make_random_chain(shape, random);
  const int rows = std::max(other.max_block_rows(), problem.max_block_rows());
  ArrowheadFactorization factor(shape, rows), fresh(shape, rows);
  ASSERT_TRUE(factor.factorize(other, 1.0, true));
  ASSERT_TRUE(factor.factorize(problem, 0.0, true));
  EXPECT_FALSE(factor.factorize_again(std::numeric_limits<double>::quiet_NaN()));
  for (const double damping : {0.5, 1e-3, 20.0}) {
    SCOPED_TRACE(damping);
    ASSERT_TRUE(factor.has_kept_blocks());
    ASSERT_TRUE(factor.factorize_again(damping));
    ASSERT_TRUE(fresh.factorize(problem, damping));
    EXPECT_EQ(all_of(factor), all_of(fresh));
  }
  ASSERT_TRUE(factor.factorize(other, 0.5));
  EXPECT_FALSE(factor.has_kept_blocks());
  ASSERT_TRUE(fresh.factorize(other, 0.5));
  EXPECT_EQ(all_of(factor), all_of(fresh));
}

INSTANTIATE_TEST_SUITE_P(Layouts, ArrowFactorOnLayout, ::testing::ValuesIn(kLayouts));

// A node that no residual involves is a zero pivot. Without damping that must be reported. With
// damping the node must stay in place without effect on its neighbours.
TEST(ArrowheadFactorization, UnobservedNodeFailsWithoutDampingAndStaysWithDamping) {
  const ProblemShape shape{5, 6, 1, 3};
  std::mt19937 random(8);
  LinearChainProblem problem(shape, 1);
  for (const int node : {0, 1, 3, 4}) {
    problem.add(test_support::random_block(shape, node, 1, 9, 0, random));
  }
  ArrowheadFactorization factor(shape, problem.max_block_rows());
  EXPECT_FALSE(factor.factorize(problem, 0.0));
  ASSERT_TRUE(factor.factorize(problem, 1e-8));
  Eigen::VectorXd node_step;
  factor.compute_node_step(Eigen::VectorXd::Zero(3), node_step);
  EXPECT_EQ(node_step.segment(2 * 6, 6), Eigen::VectorXd::Zero(6));
  EXPECT_GT(node_step.norm(), 0.1);
  EXPECT_TRUE(node_step.allFinite());
}

// Of these parameters one has no effect, two act only through their sum, and one acts like a shift
// of the nodes. H is singular, yet with damping the step is unique, and it must be the dense one.
// Catches a scale taken from the Schur complement instead of H, and a zero scale. The damping of
// 1e-4 limits the condition of the damped system to 1e4 times that of the random part, hence 1e-8.
TEST(ArrowheadFactorization, DampedStepOfRankDeficientParametersAgreesWithDenseQr) {
  constexpr double kDamping = 1e-4;
  std::mt19937 random(15);
  for (const ProblemShape& shape :
       {ProblemShape{9, 6, 2, 6}, ProblemShape{7, 12, 2, 6}, ProblemShape{5, 24, 1, 6}}) {
    SCOPED_TRACE(::testing::PrintToString(shape));
    LinearChainProblem problem = make_random_chain(shape, random, {.prior = false});
    const Eigen::VectorXd shift = Eigen::VectorXd::LinSpaced(problem.node_unknowns(), -1.0, 2.0);
    for (auto& block : problem.blocks()) {
      const int s = shape.node_size;
      block.parameter_jacobian.col(1).setZero();
      block.parameter_jacobian.col(3) = block.parameter_jacobian.col(2);
      block.parameter_jacobian.col(5) =
          block.node_jacobian * shift.segment(s * block.first_node, s * block.node_span);
    }
    ArrowheadFactorization factor(shape, problem.max_block_rows());
    ASSERT_TRUE(factor.factorize(problem, kDamping));
    const Eigen::VectorXd parameter_step = -factor.schur().ldlt().solve(factor.reduced_gradient());
    Eigen::VectorXd node_step;
    factor.compute_node_step(parameter_step, node_step);

    const Eigen::MatrixXd J = problem.dense_jacobian();
    Eigen::VectorXd scale = J.colwise().norm();
    scale = (scale.array() == 0.0).select(1.0, scale);
    Eigen::MatrixXd stacked(J.rows() + J.cols(), J.cols());
    stacked << J, Eigen::MatrixXd(std::sqrt(kDamping) * scale.asDiagonal());
    Eigen::VectorXd rhs = Eigen::VectorXd::Zero(stacked.rows());
    rhs.head(J.rows()) = -problem.dense_residual();
    const Eigen::VectorXd expected = stacked.householderQr().solve(rhs);
    EXPECT_LT((node_step - expected.head(problem.node_unknowns())).norm(), 1e-8 * expected.norm());
    EXPECT_LT((parameter_step - expected.tail(shape.parameter_count)).norm(),
              1e-8 * expected.norm());
    EXPECT_EQ(parameter_step[1], 0.0);
  }
}

// An infinite residual or Jacobian must be reported. 1e200 squares to infinity, which also catches
// code that tests for NaN only.
TEST(ArrowheadFactorization, NonFiniteEntriesAreReported) {
  const ProblemShape shape{6, 4, 2, 3};
  std::mt19937 random(21);
  const LinearChainProblem problem = make_random_chain(shape, random);
  ArrowheadFactorization factor(shape, problem.max_block_rows());
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e200}) {
    for (std::size_t index = 0; index < static_cast<std::size_t>(problem.block_count()); ++index) {
      LinearChainProblem broken = problem;
      broken.blocks()[index].parameter_jacobian(0, 1) = bad;
      EXPECT_FALSE(factor.factorize(broken, 1e-8)) << bad << " in block " << index;
    }
  }
}

// Rounded sums depend on their order: if blocks were added as their threads end, an estimate would
// differ between machines. The chains have several windows for any number of threads, and the last
// is not full.
TEST(ArrowheadFactorization, IsBitIdenticalForAnyNumberOfThreads) {
  std::mt19937 random(31);
  for (const ProblemShape& shape : {ProblemShape{700, 4, 2, 9}, ProblemShape{701, 3, 0, 2}}) {
    SCOPED_TRACE(::testing::PrintToString(shape));
    LinearChainProblem problem = make_random_chain(shape, random);
    ArrowheadFactorization one(shape, problem.max_block_rows());
    ASSERT_TRUE(one.factorize(problem, 1e-3));
    const std::vector<Eigen::MatrixXd> expected = all_of(one);
    for (const int threads : {2, 3, 1}) {
      problem.threads = threads;
      ArrowheadFactorization fresh(shape, problem.max_block_rows());
      for (ArrowheadFactorization* factor : {&fresh, &one}) {
        ASSERT_TRUE(factor->factorize(problem, 1e-3));
        EXPECT_EQ(all_of(*factor), expected) << threads;
      }
    }
  }
}

/// Calls `before` of each block that is linearised.
class WatchedChain : public LinearChainProblem {
 public:
  explicit WatchedChain(const LinearChainProblem& chain) : LinearChainProblem(chain) {}
  void linearize(int index, estimator::ResidualBlock& out) const override {
    before(index);
    LinearChainProblem::linearize(index, out);
  }
  std::function<void(int)> before;
};

TEST(ArrowheadFactorization, LinearizesOnTheThreadsOfItsProblem) {
  const ProblemShape shape{100, 4, 1, 3};
  std::mt19937 random(32);
  WatchedChain problem(make_random_chain(shape, random));
  problem.threads = 3;
  std::atomic<int> begun = 0;
  problem.before = [&](int) {
    ++begun;
    while (begun < 3) std::this_thread::yield();  // each waits for two others
  };
  ArrowheadFactorization factor(shape, problem.max_block_rows());
  EXPECT_TRUE(factor.factorize(problem, 1e-3));
  EXPECT_EQ(begun, problem.block_count());
}

// Models refuse by exceptions, in any window and thread. The next elimination must not be affected.
TEST(ArrowheadFactorization, RethrowsExceptionsOfTheModel) {
  const ProblemShape shape{300, 4, 1, 3};
  std::mt19937 random(33);
  WatchedChain problem(make_random_chain(shape, random));
  problem.before = [](int) {};
  ArrowheadFactorization factor(shape, problem.max_block_rows());
  ASSERT_TRUE(factor.factorize(problem, 1e-3));
  const std::vector<Eigen::MatrixXd> expected = all_of(factor);
  for (const int threads : {1, 3}) {
    problem.threads = threads;
    for (const int bad : {0, 50, problem.block_count() - 1}) {
      problem.before = [&](int index) {
        if (index == bad) throw std::invalid_argument("this one");
      };
      EXPECT_THROW(factor.factorize(problem, 1e-3), std::invalid_argument) << bad;
      problem.before = [](int) {};
      ASSERT_TRUE(factor.factorize(problem, 1e-3));
      EXPECT_EQ(all_of(factor), expected) << threads << " threads, " << bad;
    }
  }
}

}  // namespace
