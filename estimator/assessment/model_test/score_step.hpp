#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// The result of a Gauss–Newton step in some of the parameters, with all others fixed. It predicts
/// a fit with these parameters free, linearised at the current values.
struct ScoreStep {
  /// Change and standard deviation, one per parameter of the step.
  Eigen::VectorXd change, deviation;
  double decrease = 0.0;  ///< decrease of the cost
  int rank = 0;           ///< number of identifiable directions
};

/// Computes a Gauss–Newton step in some of the parameters, with all others fixed.
/// @param information  valid; see ParameterInformation for `schur` and `group_score`
/// @param spread       covariance of the gradient summed over noise groups [parameters ×
///                     parameters]
/// @param taken        positions of the parameters to step in
/// @param taken        positions of the parameters to step in
ScoreStep step_along(const ParameterInformation& information, const Eigen::MatrixXd& spread,
                     const std::vector<int>& taken);

}  // namespace estimator
