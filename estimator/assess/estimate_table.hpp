#pragma once

#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/assess/identifiability.hpp"
#include "estimator/assess/prior_conflicts.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// The free parameters of one calibration, with their initial values, and the subset that affects
/// the recordings.
class EstimateTable {
 public:
  /// @throws std::invalid_argument if no parameter is free
  explicit EstimateTable(const Mechanism& mechanism);

  /// Fixes the parameters that have no effect on the problem, with one note each.
  /// @throws std::invalid_argument if none has an effect
  void fix_parameters_without_effect(const LeastSquaresProblem& problem, Mechanism& mechanism,
                                     std::vector<std::string>& notes);

  const std::vector<int>& requested() const { return asked_; }
  /// The parameters that were not fixed.
  const std::vector<int>& estimated() const { return estimated_; }

  /// Stores the estimates of all free parameters with their uncertainty in the result.
  /// @param data  of the estimated parameters; empty: no priors
  void fill(const Uncertainty& uncertainty, const PriorFreeEstimates& data,
            Calibration& result) const;

 private:
  void store_dependent_estimates(const Uncertainty& uncertainty, Calibration& result) const;

  std::vector<int> asked_, estimated_;
  std::vector<double> initial_;
};

}  // namespace estimator
