#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/covariance.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// Smallest reported distance between a prior and the estimate without this prior [combined
/// standard deviations].
inline constexpr double kConflictDeviations = 3.0;

/// The estimates from the data without priors, linearised about the estimates with priors.
struct PriorFreeEstimates {
  Eigen::VectorXd values;               ///< one per parameter of the information matrix
  Eigen::VectorXd standard_deviations;  ///< infinite if not identifiable; 0 at a bound
};

/// Returns the estimates from the data without priors. Empty if the rig file has no priors.
/// @param mechanism    mechanism at the estimates, with the free parameters of `information`
/// @param information  information at the estimates; its last noise group contains the priors
/// @param variances    variance of the weighted residuals of each noise group
PriorFreeEstimates estimate_without_priors(const Mechanism& mechanism,
                                           const ParameterInformation& information,
                                           const Eigen::VectorXd& variances);

/// Returns the priors that differ by kConflictDeviations or more from the estimate from the data
/// and all other priors [Hau78]. For the CAD prior of a body, the result contains the parameter
/// with the largest deviation, and its estimate with the prior (not without it).
std::vector<PriorConflict> find_prior_conflicts(const Mechanism& mechanism,
                                                const ParameterInformation& information,
                                                const Eigen::VectorXd& variances);

/// Returns a note about a conflict.
Message make_prior_conflict_note(const PriorConflict& conflict);

/// A function that creates a least-squares problem at the parameter values of a mechanism.
using ProblemFactory = std::function<std::unique_ptr<LeastSquaresProblem>(const Mechanism&)>;

/// Moves free parameters whose initial value is at a bound into the interior of their range, if
/// they affect the residual. The move changes the residual by a thousandth of its norm, but is at
/// most half the range of the parameter.
void move_initial_values_off_bounds(Mechanism& mechanism, const ProblemFactory& make_problem);

/// Returns the indices of the free parameters without any effect on the residual, such as a motor
/// gain without a control signal, or an inertia that acts only together with another body's motion.
/// @param mechanism  has the same free parameters as the problem
std::vector<int> find_parameters_without_effect(const LeastSquaresProblem& problem,
                                                const Mechanism& mechanism);

/// The free parameters of a calibration with their initial values, and the subset that affects the
/// recordings and is therefore estimated.
class EstimateTable {
 public:
  /// @throws std::invalid_argument if no parameter is free
  explicit EstimateTable(const Mechanism& mechanism);

  /// Creates the table of a calibration that estimates only the free parameters of `varied`.
  /// @param mechanism  rig description with the same parameters
  EstimateTable(const Mechanism& mechanism, const Mechanism& varied);

  /// Fixes the free parameters without effect on the residuals. Adds one note for each.
  /// @throws std::invalid_argument if no free parameter has an effect
  void fix_parameters_without_effect(const LeastSquaresProblem& problem, Mechanism& mechanism,
                                     std::vector<Message>& notes);

  const std::vector<int>& free_parameters() const { return free_; }
  /// Returns the free parameters that are estimated because they affect the residuals.
  const std::vector<int>& estimated_parameters() const { return estimated_; }

  /// Stores the estimates of all free parameters, with their uncertainties, in the result of a
  /// calibration.
  /// @param data  estimates without priors; empty if there are no priors
  void fill(const ParameterUncertainty& uncertainty, const PriorFreeEstimates& data,
            Calibration& result) const;

 private:
  void store_dependent_estimates(const ParameterUncertainty& uncertainty,
                                 Calibration& result) const;

  std::vector<int> free_, estimated_;
  std::vector<double> initial_;
};

}  // namespace estimator
