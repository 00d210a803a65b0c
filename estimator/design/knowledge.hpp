#pragma once

#include <Eigen/Core>
#include <random>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// What is known of a mechanism's free parameters before a recording, in the order of
/// FreeParameters.
struct Knowledge {
  Eigen::MatrixXd information;  ///< Λ, inverse covariance; zero along what nothing is known of
  Eigen::MatrixXd root;         ///< of the covariance that draws have, root·rootᵀ
};

/// A parameter of which nothing is known but its value is drawn with a deviation of this share.
inline constexpr double kUnknownShare = 0.25;

/// Of priors alone: Gaussians and drawings.
Knowledge knowledge_of_priors(const Mechanism& mechanism);

/// Of an estimate, whose covariance holds what priors said. Parameters without a variance (what the
/// recordings did not see, or what was held) tell nothing.
///
/// @param covariance  free × free
Knowledge knowledge_of_estimate(const Mechanism& mechanism, const Eigen::MatrixXd& covariance);

/// The mechanism with its free parameters drawn from what is known of them: within their bounds,
/// and with bodies that can exist. Where no draw is possible, the estimate itself.
Mechanism draw(const Mechanism& mechanism, const Knowledge& knowledge, std::mt19937_64& random);

}  // namespace estimator
