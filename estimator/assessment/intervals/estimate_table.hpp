#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/assessment/identifiability/identifiability.hpp"
#include "estimator/assessment/intervals/prior_conflicts.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// A table of the free parameters of one calibration with their initial values. It marks the
/// parameters that affect the recordings; only these are estimated.
class EstimateTable {
 public:
  /// @throws std::invalid_argument if no parameter is free
  explicit EstimateTable(const Mechanism& mechanism);

  /// Fixes the free parameters without effect on the residuals. Adds one note for each.
  /// @throws std::invalid_argument if no free parameter has an effect
  void fix_parameters_without_effect(const LeastSquaresProblem& problem, Mechanism& mechanism,
                                     std::vector<Message>& notes);

  const std::vector<int>& requested() const { return asked_; }
  /// Returns the free parameters that were not fixed for lack of effect.
  const std::vector<int>& estimated() const { return estimated_; }

  /// Stores the estimates of all free parameters with their uncertainty in the result.
  /// @param data  estimates without priors; empty if there are no priors
  void fill(const Uncertainty& uncertainty, const PriorFreeEstimates& data,
            Calibration& result) const;

 private:
  void store_dependent_estimates(const Uncertainty& uncertainty, Calibration& result) const;

  std::vector<int> asked_, estimated_;
  std::vector<double> initial_;
};

}  // namespace estimator
