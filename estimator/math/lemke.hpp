#pragma once

#include <Eigen/Core>

namespace estimator {

/// Reason why the solver of a linear complementarity problem stopped.
enum class ComplementarityOutcome {
  kSolved,     ///< the solution satisfies the conditions to round-off
  kRay,        ///< secondary ray: for copositive-plus H this proves that there is no solution
  kMaxPivots,  ///< the limit of pivots was reached
  kRoundOff,   ///< the final basis does not satisfy the conditions: badly conditioned data
};

/// Solution of a linear complementarity problem.
struct ComplementaritySolution {
  Eigen::VectorXd z;  ///< ≥ 0; zero unless solved
  Eigen::VectorXd w;  ///< H z + q ≥ 0; zero unless solved
  ComplementarityOutcome outcome = ComplementarityOutcome::kMaxPivots;
  int pivots = 0;
};

/// Solves the linear complementarity problem w = H z + q, w ≥ 0, z ≥ 0, wᵀz = 0 by Lemke's
/// algorithm. The covering vector contains ones, and the lexicographic ratio test prevents cycles
/// [Cot92, section 4.4]. The final basis is solved again from H and q to remove the accumulated
/// error of the pivots.
///
/// Finds a solution if H is a P-matrix or strictly copositive. If H is copositive-plus, it finds a
/// solution or proves that there is none (kRay).
///
/// @param H          n × n, any
/// @param q          n
/// @param max_pivots limit of pivots; 0 means 50 (n + 1)
ComplementaritySolution solve_linear_complementarity(const Eigen::MatrixXd& H,
                                                     const Eigen::VectorXd& q, int max_pivots = 0);

}  // namespace estimator
