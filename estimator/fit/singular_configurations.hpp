#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/loops/loop_closure.hpp"

namespace estimator {

/// Returns whether a configuration of closed loops is nearly singular. Links are then almost
/// collinear, observed joints hardly determine unobserved joints, and the branch is ambiguous.
/// @param jacobian  Jacobian of the loop closures
bool is_nearly_singular(const Mechanism& mechanism, const Eigen::MatrixXd& jacobian);

/// A singular configuration along a motion, and the selection of the branch after it.
struct SingularConfiguration {
  Eigen::Index sample = 0;  ///< sample nearest to the singular configuration
  int joint = 0;            ///< unobserved joint that moves most there
  bool decided = false;     ///< whether the readings determined the choice between two branches
  bool changed = false;     ///< whether `motion` was moved to the other branch
};

/// Selects the branch on which joints continue after a singular configuration: the branch of
/// `motion`, or the other branch that closes the loops. A smooth curve is fitted on each branch,
/// and the branch closer to the readings is selected. The readings must be unfiltered: a low-pass
/// filter rounds them off at full extension, which would favour turning back.
///
/// @param motion  joints × samples, with closed loops; replaced by the result. It must include
/// samples before and after the singular configuration that determine the joints well
/// @param read    joints × samples: unfiltered readings; those of unobserved joints are ignored
SingularConfiguration select_branch(const Mechanism& mechanism, LoopClosure& closure,
                                    const Eigen::MatrixXd& read, Eigen::MatrixXd& motion);

}  // namespace estimator
