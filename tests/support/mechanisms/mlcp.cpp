#include "tests/support/mechanisms/mlcp.hpp"

#include <cassert>
#include <numeric>

#include "tests/support/mechanisms/ldlt_block.hpp"

namespace estimator {

int Mlcp::free_count() const {
  return std::accumulate(free_block_sizes.begin(), free_block_sizes.end(), 0);
}

MlcpSolution solve_mlcp(const Mlcp& problem, int max_pivots) {
  const Eigen::Index n = problem.b.size(), a = problem.free_count(), bounded = n - a;
  assert(problem.S.rows() == n && problem.S.cols() == n && bounded >= 0);
  MlcpSolution solution{.lambda = Eigen::VectorXd::Zero(n), .w = Eigen::VectorXd::Zero(bounded)};
  const BlockLdlt factor(problem.S, problem.free_block_sizes);
  if (!factor.ok()) {
    solution.singular_block = true;
    return solution;
  }
  const Eigen::VectorXd y = factor.solve_lower(-problem.b);  // (y_A; y_B − w_B)
  const LcpSolution lcp = solve_lcp(factor.schur_complement(), -y.tail(bounded), max_pivots);
  solution.outcome = lcp.outcome;
  solution.pivots = lcp.pivots;
  if (lcp.outcome == LcpOutcome::kSolved) {
    solution.lambda << factor.solve_upper(y.head(a), lcp.z), lcp.z;
    solution.w = lcp.w;
  }
  return solution;
}

}  // namespace estimator
