#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/math/lemke.hpp"

namespace estimator {

/// Mixed linear complementarity problem [Mar, eq. A.1 with signs on λ_B alone]:
///
///   [S_AA S_BAᵀ; S_BA S_BB] (λ_A; λ_B) + (b_A; b_B) = (0; w_B),
///   λ_B ≥ 0, w_B ≥ 0, λ_Bᵀ w_B = 0.
///
/// The free part comes first. S_AA is symmetric; S_BB need not be.
struct Mlcp {
  Eigen::MatrixXd S;
  Eigen::VectorXd b;
  std::vector<int> free_block_sizes;  ///< pivot blocks of the free part, e.g. five per joint

  int free_count() const;
};

/// Solution of a mixed complementarity problem.
struct MlcpSolution {
  Eigen::VectorXd lambda;  ///< (λ_A; λ_B); zero unless solved
  Eigen::VectorXd w;       ///< w_B; zero unless solved
  LcpOutcome outcome = LcpOutcome::kMaxPivots;
  bool singular_block = false;  ///< the free part could not be eliminated
  int pivots = 0;
};

/// Eliminates the free part by block LDLᵀ, solves the remaining LCP (D_BB, b_B + L_BA y_A) by
/// Lemke's algorithm and substitutes back [Mar, appendix A]. General and not fast: reference for
/// the friction solve per joint, and usable for contacts.
MlcpSolution solve_mlcp(const Mlcp& problem, int max_pivots = 0);

}  // namespace estimator
