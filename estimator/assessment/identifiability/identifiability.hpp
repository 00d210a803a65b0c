#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/messages/message.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// The uncertainty of all free parameters, in the order of the mechanism's parameters.
struct ParameterUncertainty {
  Eigen::VectorXd standard_deviation;  ///< 0 at a bound, infinite if not identifiable
  /// Half-width of the 95 % confidence interval. At a bound: width of the one-sided interval.
  Eigen::VectorXd half_interval;
  Eigen::MatrixXd covariance;  ///< its diagonal is the square of `standard_deviation`
  Eigen::MatrixXd correlation;
  Eigen::VectorXi at_bound;  ///< −1 at the lower bound, +1 at the upper bound, otherwise 0
  std::vector<NullDirection> null_directions;
  Eigen::VectorXd noise_deviation;  ///< standard deviations from noise alone
  Eigen::MatrixXd noise_covariance;
  /// Standard deviations from the scatter between parts of the recordings; NaN if not identifiable.
  Eigen::VectorXd scatter_deviation;
  Eigen::MatrixXd scatter;  ///< covariance from the same scatter; 0 if not identifiable
  Eigen::MatrixXd tolerance_covariance;  ///< covariance due to tolerances of fixed values
  /// Whether estimates from parts of the recordings disagree. The larger standard deviation, from
  /// noise or from scatter, is then used.
  bool disagree = false;
};

/// Returns the variance of a linear combination of parameters, which includes the tolerances of
/// fixed values. It is the variance due to noise, or due to the scatter between parts of the
/// recordings if the parts disagree and this variance is larger.
double compute_combination_variance(const ParameterUncertainty& uncertainty,
                                    const Eigen::VectorXd& direction);

/// Returns whether a function of the parameters is identifiable, that is, does not change along any
/// null direction. The function is given by its gradient.
bool is_identifiable(const ParameterUncertainty& uncertainty, const Eigen::VectorXd& gradient);

/// Computes the uncertainty of all free parameters from the covariance of the estimated parameters.
/// @param requested indices into mechanism.parameters of the parameters that the rig file frees
/// @param estimated the estimated parameters among these; all others had no effect and were fixed
/// @param variances variance of the weighted residuals of each noise group
/// @param half_interval result of `compute_confidence_half_widths`; if empty, errors are normal
ParameterUncertainty compute_parameter_uncertainty(const Mechanism& mechanism,
                                                   const std::vector<int>& requested,
                                                   const std::vector<int>& estimated,
                                                   const ParameterInformation& information,
                                                   const Eigen::VectorXd& variances,
                                                   const Eigen::VectorXd& half_interval = {});

/// Increases the uncertainty by the effect of tolerances of fixed values (consider covariance
/// [TSB04, section 6]).
/// @param requested  as for compute_parameter_uncertainty
/// @param estimated  indices of the estimated parameters
/// @param changes    changes of the estimates by the half-widths of the 95 % confidence intervals
///                   of fixed values: estimated parameters × values
void include_tolerances(const std::vector<int>& requested, const std::vector<int>& estimated,
                        const Eigen::MatrixXd& changes, ParameterUncertainty& uncertainty);

/// Returns the variance of the weighted residuals of each noise group, such as the readings of one
/// sensor: cost/(residuals − effective parameters), or 0 without degrees of freedom. The last group
/// contains the priors and has the known variance angle_noise². Empty if the information is not
/// valid.
Eigen::VectorXd compute_noise_group_variances(const ParameterInformation& information,
                                              double angle_noise);

/// Returns the factor by which the autocorrelation of residuals inflates the variance of their
/// mean: 1 + 2 Σ ρ_l, at least 1, with the autocorrelation ρ_l at lag l. The sum ends at the first
/// negative autocorrelation. White noise yields 1. NaN residuals are skipped.
double compute_autocorrelation_inflation(const std::vector<Eigen::VectorXd>& residuals);

/// Multiplies the variance of each sensor by the inflation due to the autocorrelation of its
/// simulation errors. Adds a note if the model evidently does not explain the motion.
/// @param errors     simulation errors, by sensor and segment
/// @param variances  variance of the weighted residuals of each noise group, sensors first
void inflate_variances_for_autocorrelation(const Mechanism& mechanism,
                                           const std::vector<std::vector<Eigen::VectorXd>>& errors,
                                           Eigen::VectorXd& variances, std::vector<Message>& notes);

/// Returns one note, with advice, for each known case of parameters that the sensors identify
/// weakly or not at all. These are: an accelerometer's position along the only rotation axis of its
/// body; a gyroscope's scale without an encoder; bias, tilt, gravity and mounting without large
/// rotations; heading (rotation about the direction of gravity); absolute delays.
/// @param requested  indices of the free parameters
/// @param estimated  indices of the free parameters that affect any reading
/// @param information       information matrix of the estimated parameters from the data without
/// priors
std::vector<Message> describe_sensor_ambiguities(const Mechanism& mechanism,
                                                 const std::vector<int>& requested,
                                                 const std::vector<int>& estimated,
                                                 const Eigen::MatrixXd& information);

}  // namespace estimator
