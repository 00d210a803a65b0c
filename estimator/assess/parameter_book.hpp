#pragma once

#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/assess/identifiability.hpp"
#include "estimator/assess/prior_check.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// Keeps account of the parameters of one calibration: which were asked for, where they started,
/// and which of them the recordings can show.
class ParameterBook {
 public:
  /// @throws std::invalid_argument where no parameter is free
  explicit ParameterBook(const Mechanism& mechanism);

  /// Holds the parameters that have no effect on the problem, each with a note.
  /// @throws std::invalid_argument where that is all of them
  void hold_without_effect(const LeastSquaresProblem& problem, Mechanism& mechanism,
                           std::vector<std::string>& notes);

  const std::vector<int>& asked() const { return asked_; }
  /// Those that were not held.
  const std::vector<int>& estimated() const { return estimated_; }

  /// Writes the estimates, all of `asked`, with their uncertainty into the result.
  /// @param data  of those that were estimated; empty: nothing was known beforehand
  void fill(const Uncertainty& uncertainty, const DataAlone& data, Calibration& result) const;

 private:
  void fill_tied(const Uncertainty& uncertainty, Calibration& result) const;

  std::vector<int> asked_, estimated_;
  std::vector<double> initial_;
};

}  // namespace estimator
