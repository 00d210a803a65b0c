#pragma once

#include <Eigen/Core>
#include <random>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// Prior information about a mechanism's free parameters, in the order of FreeParameters.
struct PriorInformation {
  Eigen::MatrixXd information;  ///< Λ, inverse covariance; zero in unknown directions
  Eigen::MatrixXd root;         ///< of the covariance of random draws, root·rootᵀ
};

/// Relative standard deviation of draws of a parameter without prior information.
inline constexpr double kUnknownShare = 0.25;

/// Prior information from priors alone: Gaussian and CAD priors.
PriorInformation information_of_priors(const Mechanism& mechanism);

/// Prior information from an estimate, whose covariance includes the priors. Parameters without a
/// variance (unidentifiable or fixed) contribute no information.
///
/// @param covariance  free × free
PriorInformation information_of_estimate(const Mechanism& mechanism,
                                         const Eigen::MatrixXd& covariance);

/// Returns the mechanism with randomly drawn free parameters, within bounds and physically
/// consistent. Returns the mechanism unchanged if no such draw is found.
Mechanism draw(const Mechanism& mechanism, const PriorInformation& knowledge,
               std::mt19937_64& random);

}  // namespace estimator
