#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/assessment/quantization.hpp"
#include "estimator/fit/physical/shooting_fit.hpp"
#include "estimator/optimize/covariance.hpp"

namespace estimator {

/// A Gauss–Newton step that changes some of the parameters and keeps all others fixed. The step is
/// the linearised prediction of a fit in which only these parameters are free.
struct GaussNewtonStep {
  /// Change and standard deviation, one per parameter of the step.
  Eigen::VectorXd change, deviation;
  double decrease = 0.0;  ///< decrease of the cost
  int rank = 0;           ///< number of identifiable directions
};

/// Computes a Gauss–Newton step that changes some of the parameters and keeps all others fixed.
/// @param information  valid; see ParameterInformation for `schur` and `group_score`
/// @param spread       covariance of the gradient, summed over noise groups
/// @param taken        positions of the parameters that the step changes
GaussNewtonStep compute_gauss_newton_step(const ParameterInformation& information,
                                          const Eigen::MatrixXd& spread,
                                          const std::vector<int>& taken);

/// Finds parameters that the rig description fixes at values that contradict the readings. Tests
/// joint positions, motor gains and friction terms, including terms fixed at zero. Reports a
/// parameter if its estimate would differ by more than five standard deviations, and would change
/// another estimate by more than one standard deviation. Uses the score test: a Gauss–Newton step
/// from the estimates, with one fixed parameter freed. Even an error that hardly affects the
/// residuals may change estimates by many standard deviations.
/// @param fitted    the fitted problem at the estimates, on `input` and `grid`
/// @param counting  sensors with quantization errors only; if any, `fitted` has one shooting node
///                  per segment
/// @param variances variance of the weighted residuals of each noise group; 1 for quantized sensors
/// @return          contradicted parameters, the most significant first
std::vector<ContradictedParameter> find_contradicted_parameters(
    const ShootingProblem& fitted, const ShootingInput& input, const ShootingGrid& grid,
    const std::vector<QuantizedSensor>& counting, const Eigen::VectorXd& variances);

/// The effects of errors of fixed values on the estimates.
struct FixedValueEffects {
  /// Effects above one standard deviation due to noise, the largest first.
  std::vector<FixedValueEffect> largest;
  std::vector<int> estimated;  ///< indices of the estimated parameters
  /// Changes of the estimates by the tolerances of fixed values: estimated parameters × values.
  Eigen::MatrixXd tolerance_changes;
};

/// Computes how errors of fixed masses, gravity, joint points, motor constants and values with a
/// tolerance change the estimates. If θ are the estimates, φ a fixed value and S their information
/// after elimination of the states, then dθ/dφ = −S_θθ⁻¹ S_θφ.
/// @param fitted    the fitted problem at the estimates, on `input` and `grid`
/// @param variances variance of the weighted residuals of each noise group
FixedValueEffects find_fixed_value_effects(const ShootingProblem& fitted,
                                           const ShootingInput& input, const ShootingGrid& grid,
                                           const Eigen::VectorXd& variances);

/// Returns a note about the most significant contradiction, and about other contradictions that
/// explain the data equally well.
/// @param found  at least one contradiction
Message make_contradiction_note(const std::vector<ContradictedParameter>& found);

/// Finds instruments with a significant cross-axis sensitivity that the description lacks. Reports
/// an instrument if its cross-axis sensitivity changes an estimate by more than its standard
/// deviation, or causes much of the instrument's residuals (then `moved` is empty). Uses the score
/// test: the cost reduction by freeing the cross-axis parameters, predicted by linearisation at the
/// estimates, is compared with the χ² distribution.
/// @param fitted  the fitted problem at the estimates, on `input` and `grid`
std::vector<CrossAxisSensitivity> find_missing_cross_axes(const ShootingProblem& fitted,
                                                          const ShootingInput& input,
                                                          const ShootingGrid& grid);

/// Returns a note about the cross-axis sensitivity of one instrument.
Message make_cross_axis_note(const CrossAxisSensitivity& found);

}  // namespace estimator
