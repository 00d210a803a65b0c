#pragma once

#include <Eigen/Core>
#include <random>

#include "estimator/model/mechanism.hpp"

namespace estimator {

/// The information about a mechanism's free parameters before an experiment, in the order of
/// FreeParameters.
struct PriorInformation {
  Eigen::MatrixXd information;  ///< inverse covariance; zero in unknown directions
  /// Square root of the covariance of random parameter values, which is root·rootᵀ.
  Eigen::MatrixXd root;
};

/// Relative standard deviation of random values of a parameter without prior information.
inline constexpr double kUnknownRelativeDeviation = 0.25;

/// Computes the prior information from the priors of the rig file: Gaussian priors and CAD priors.
PriorInformation compute_prior_information(const Mechanism& mechanism);

/// Computes the prior information from an estimate, whose covariance includes the priors.
/// Parameters that are unidentifiable or fixed have no variance and contribute no information.
/// @param covariance  covariance of the free parameters
PriorInformation compute_estimate_information(const Mechanism& mechanism,
                                              const Eigen::MatrixXd& covariance);

/// Draws random values of the free parameters from the prior information, and returns the mechanism
/// with these values. The values are within bounds and physically consistent. Returns the mechanism
/// unchanged if no such values are found.
Mechanism draw_parameters(const Mechanism& mechanism, const PriorInformation& knowledge,
                          std::mt19937_64& random);

}  // namespace estimator
