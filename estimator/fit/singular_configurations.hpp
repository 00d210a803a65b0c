#pragma once

#include <Eigen/Core>

#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/loop_closure.hpp"

namespace estimator {

/// Whether the configuration is nearly singular: links are almost collinear, so that unobserved
/// joints are poorly determined by observed ones, and their branch is ambiguous.
/// @param jacobian  of the loop closures
bool is_nearly_singular(const Mechanism& mechanism, const Eigen::MatrixXd& jacobian);

/// A singular configuration along a motion, and the branch on which the motion continues.
struct SingularConfiguration {
  Eigen::Index sample = 0;  ///< nearest to the configuration
  int joint = 0;            ///< the unobserved joint that rotates most there
  bool decided = false;     ///< whether there was another branch
  bool changed = false;     ///< whether that branch was taken instead of that of `motion`
};

/// Selects the branch on which joints continue after a singular configuration: that of `motion`, or
/// the other one that closes the loops. Both are interpolated smoothly in joints that determine the
/// others throughout, and the one closer to the readings is taken. The readings must be unfiltered:
/// a low-pass filter rounds them off at full extension, which would favour turning back.
///
/// @param motion  joints × samples, loops closed, with some samples before and after the
/// configuration in which joints are well determined; replaced by the result
/// @param read    joints × samples, unfiltered readings; those of unobserved joints are ignored
SingularConfiguration select_branch(const Mechanism& mechanism, LoopClosure& closure,
                                    const Eigen::MatrixXd& read, Eigen::MatrixXd& motion);

}  // namespace estimator
