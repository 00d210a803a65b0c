#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/math/lemke.hpp"

namespace estimator {

/// Mixed linear complementarity problem for the unknowns λ and w_B [Mar, eq. A.1, with sign
/// conditions only on λ_B]:
///
///   [S_AA S_BAᵀ; S_BA S_BB] (λ_A; λ_B) + (b_A; b_B) = (0; w_B),
///   λ_B ≥ 0, w_B ≥ 0, λ_Bᵀ w_B = 0.
///
/// Free unknowns λ_A come first. S_AA is symmetric; S_BB need not be symmetric.
struct Mlcp {
  Eigen::MatrixXd S;
  Eigen::VectorXd b;
  std::vector<int> free_block_sizes;  ///< sizes of the pivot blocks of S_AA, e.g. five per joint

  int free_count() const;
};

/// Solution of a mixed linear complementarity problem.
struct MlcpSolution {
  Eigen::VectorXd lambda;  ///< unknowns (λ_A; λ_B); zero unless solved
  Eigen::VectorXd w;       ///< complementary variables w_B; zero unless solved
  LcpOutcome outcome = LcpOutcome::kMaxPivots;
  bool singular_block = false;  ///< true if the free unknowns could not be eliminated
  int pivots = 0;
};

/// Solves a mixed linear complementarity problem (MLCP) [Mar, appendix A]. Eliminates the free
/// unknowns by block LDLᵀ, solves the remaining linear complementarity problem by Lemke's
/// algorithm, and substitutes the solution back. General but slow: tests compare the friction solve
/// per joint with it, and it can solve contact problems.
MlcpSolution solve_mlcp(const Mlcp& problem, int max_pivots = 0);

}  // namespace estimator
