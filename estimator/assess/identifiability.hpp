#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// Uncertainty of all free parameters, in their order in the mechanism.
struct Uncertainty {
  Eigen::VectorXd standard_deviation;  ///< 0 at a bound, infinite: not identifiable
  Eigen::VectorXd half_interval;       ///< half the 95 % interval; at a bound all of it
  Eigen::MatrixXd covariance;          ///< diagonal: squares of `standard_deviation`
  Eigen::MatrixXd correlation;
  Eigen::VectorXi at_bound;  ///< −1, 0, +1
  std::vector<NullDirection> null_directions;
  Eigen::VectorXd noise_deviation;  ///< from noise alone
  Eigen::MatrixXd noise_covariance;
  Eigen::VectorXd scatter_deviation;  ///< between parts of the recordings; NaN: not identifiable
  Eigen::MatrixXd scatter;            ///< likewise; 0 there
  bool disagree = false;              ///< parts disagree, so the larger of both counts
};

/// Returns the variance of a linear combination of parameters: from noise, or from the scatter
/// between parts if they disagree and it is larger.
double variance_of_combination(const Uncertainty& uncertainty, const Eigen::VectorXd& direction);

/// Returns whether a combination with this gradient is identifiable: no null direction changes it.
bool is_identifiable(const Uncertainty& uncertainty, const Eigen::VectorXd& gradient);

/// Expands the covariance of the estimated parameters to all free ones.
///
/// @param asked     indices into mechanism.parameters that are free in the rig file
/// @param estimated those of them that were estimated; the others had no effect and were fixed
/// @param variances variance of the weighted residuals of each noise group
/// @param half_interval of the estimated parameters, see `half_intervals`; empty: normal errors
Uncertainty make_uncertainty(const Mechanism& mechanism, const std::vector<int>& requested,
                             const std::vector<int>& estimated,
                             const ParameterInformation& information,
                             const Eigen::VectorXd& variances,
                             const Eigen::VectorXd& half_interval = {});

/// Variance of each group's weighted residuals, cost/(rows − effective parameters); 0 for groups
/// without redundancy. The last group, the priors, has the known variance angle_noise². Empty if
/// the information is not valid.
Eigen::VectorXd group_variances(const ParameterInformation& information, double angle_noise);

/// Returns the factor by which autocorrelation of residuals inflates the variance of their mean:
/// 1 + 2 Σ ρ_l over lags up to the first negative autocorrelation, at least 1. White noise yields
/// 1. NaN marks unobserved nodes.
double correlation_inflation(const std::vector<Eigen::VectorXd>& residuals);

/// Inflates each sensor's variance by the autocorrelation of its simulation errors. Adds a note if
/// the model evidently does not explain the motion.
///
/// @param errors     by sensor and segment
/// @param variances  of the weighted residuals of each noise group, sensors first
void inflate_for_correlation(const Mechanism& mechanism,
                             const std::vector<std::vector<Eigen::VectorXd>>& errors,
                             Eigen::VectorXd& variances, std::vector<std::string>& notes);

}  // namespace estimator
