#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// A Gauss–Newton step along some of the parameters, the others kept: what a fit would do if these
/// were free, linearised where it stands.
struct ScoreStep {
  Eigen::VectorXd change, deviation;  ///< one a parameter taken
  double decrease = 0.0;              ///< of the cost
  int rank = 0;                       ///< directions that the residuals see
};

/// @param information  valid; see ParameterInformation for `schur` and `group_score`
/// @param spread       covariance of the summed score [parameters × parameters]
/// @param taken        positions of parameters
ScoreStep step_along(const ParameterInformation& information, const Eigen::MatrixXd& spread,
                     const std::vector<int>& taken);

}  // namespace estimator
