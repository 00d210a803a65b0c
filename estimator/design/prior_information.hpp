#pragma once

#include <Eigen/Core>
#include <random>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// The prior information about a mechanism's free parameters, in the order of FreeParameters.
struct PriorInformation {
  Eigen::MatrixXd information;  ///< inverse covariance; zero in unknown directions
  /// Square root of the covariance of random draws, which is root·rootᵀ.
  Eigen::MatrixXd root;
};

/// Relative standard deviation of random draws of a parameter without prior information.
inline constexpr double kUnknownRelativeDeviation = 0.25;

/// Returns the prior information from the priors of the rig file alone: Gaussian and CAD priors.
PriorInformation compute_prior_information(const Mechanism& mechanism);

/// Returns the prior information from an estimate, whose covariance includes the priors. Parameters
/// without a variance (unidentifiable or fixed) contribute no information.
/// @param covariance  covariance of the free parameters
PriorInformation compute_estimate_information(const Mechanism& mechanism,
                                              const Eigen::MatrixXd& covariance);

/// Returns the mechanism with random values of its free parameters, drawn from the prior
/// information. The values are within bounds and physically consistent. Returns the mechanism
/// unchanged if no such values are found.
Mechanism draw_parameters(const Mechanism& mechanism, const PriorInformation& knowledge,
                          std::mt19937_64& random);

}  // namespace estimator
