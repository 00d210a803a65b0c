#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// A Gauss–Newton step in some of the parameters with the others fixed: a fit with these free,
/// linearised at the current values.
struct ScoreStep {
  Eigen::VectorXd change, deviation;  ///< one per parameter taken
  double decrease = 0.0;              ///< of the cost
  int rank = 0;                       ///< number of identifiable directions
};

/// Computes a Gauss–Newton step in some of the parameters.
/// @param information  valid; see ParameterInformation for `schur` and `group_score`
/// @param spread       covariance of the summed score [parameters × parameters]
/// @param taken        positions of the parameters to step in
/// @param taken        positions of the parameters to step in
ScoreStep step_along(const ParameterInformation& information, const Eigen::MatrixXd& spread,
                     const std::vector<int>& taken);

}  // namespace estimator
