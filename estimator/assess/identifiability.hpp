#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Uncertainty of all parameters that were asked for, in their order in the mechanism.
struct Uncertainty {
  Eigen::VectorXd standard_deviation;  ///< 0 at a bound, infinite where the data see nothing
  Eigen::VectorXd half_interval;       ///< half the width of the 95 % interval; at a bound all
  Eigen::MatrixXd covariance;          ///< its diagonal the squares of `standard_deviation`
  Eigen::MatrixXd correlation;
  Eigen::VectorXi at_bound;  ///< −1, 0, +1
  std::vector<NullDirection> null_directions;
  Eigen::VectorXd noise_deviation;  ///< from noise alone
  Eigen::MatrixXd noise_covariance;
  Eigen::VectorXd scatter_deviation;  ///< between pieces; NaN where they do not tell
  Eigen::MatrixXd scatter;            ///< likewise; 0 there
  bool disagree = false;              ///< pieces do, so the larger of both counts
};

/// Variance of a combination of parameters: from noise, or between pieces where they disagree and
/// it is larger.
double variance_along(const Uncertainty& uncertainty, const Eigen::VectorXd& direction);

/// Whether no direction that the data cannot see changes a combination with this gradient.
bool is_determined(const Uncertainty& uncertainty, const Eigen::VectorXd& gradient);

/// Spreads the covariance of the estimated parameters over all that were asked for.
///
/// @param asked     indices into mechanism.parameters that were free in the rig
/// @param estimated those of them that were estimated; the rest had no effect and were held
/// @param variances variance of the weighted residuals of each noise group
/// @param half_interval of the estimated parameters, see `half_intervals`; empty: errors are normal
Uncertainty make_uncertainty(const Mechanism& mechanism, const std::vector<int>& asked,
                             const std::vector<int>& estimated,
                             const ParameterInformation& information,
                             const Eigen::VectorXd& variances,
                             const Eigen::VectorXd& half_interval = {});

/// Variance of each group's weighted residuals, cost/(rows − effective parameters); 0 for groups
/// without redundancy. That of the last group, the priors, is known: angle_noise². Empty where the
/// information is not valid.
Eigen::VectorXd group_variances(const ParameterInformation& information, double angle_noise);

/// By how much correlation in time inflates the variance of a mean of these residuals:
/// 1 + 2 Σ ρ_l over lags until the autocorrelation first turns negative, at least 1. White noise
/// gives 1. NaN marks unobserved nodes.
double correlation_inflation(const std::vector<Eigen::VectorXd>& residuals);

/// Widens each sensor's variance by the correlation of its simulation errors, with a note where the
/// model evidently does not explain the motion.
///
/// @param errors     by sensor and segment
/// @param variances  of the weighted residuals of each noise group, sensors first
void widen_for_correlation(const Mechanism& mechanism,
                           const std::vector<std::vector<Eigen::VectorXd>>& errors,
                           Eigen::VectorXd& variances, std::vector<std::string>& notes);

}  // namespace estimator
