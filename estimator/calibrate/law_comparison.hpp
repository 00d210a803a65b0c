#pragma once

#include <functional>
#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/calibrate/friction_laws.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A mean over parts of the recordings, with its standard error.
struct PartMean {
  double value = 0.0;
  double deviation = 0.0;
};

/// Prediction error of a friction law on held-out parts of the recordings.
///
/// Compares logarithms of errors: errors differ between parts with different motion, while the
/// ratio of two laws' errors is about the same everywhere. This is the likelihood for Gaussian
/// errors of unknown size in each part.
struct LawScore {
  FrictionLaw law;
  int order = 0;       ///< position in the list of laws, simple ones first
  int parameters = 0;  ///< of friction, all joints
  std::vector<double>
      errors;              ///< held-out error of each part: pooled_rmse, open loop [rad]; NaN: none
  PartMean log_error;      ///< of ln(error/rad)
  PartMean log_ratio;      ///< of ln(error / error of the best law), paired
  double fit_error = 0.0;  ///< root-mean-square error on the folds' own parts [rad]
  bool converged = true;   ///< every fold
  std::string failure;     ///< reason for a missing result; empty: there is one
  /// Parameters estimated at their bound, zero, in more than half of the folds.
  std::vector<std::string> at_zero;
  std::string reduces_to;                    ///< the remaining law without them; empty: unchanged
  std::vector<ParameterEstimate> estimates;  ///< of friction, from the first fold

  bool has_result() const { return failure.empty(); }
};

struct LawComparison {
  std::vector<std::string> joints;  ///< joints with these laws
  std::vector<std::string> pieces;
  std::vector<JointKind> kinds;  ///< of the sensors whose errors are pooled
  int folds = 0;
  std::vector<LawScore> laws;  ///< sorted by error, those without result last
  /// The law with the fewest parameters within one standard error of the best, the first in the
  /// list if several; −1: none.
  int recommended = -1;
  /// Indices of laws within two standard errors of the best, itself included: indistinguishable.
  std::vector<int> indistinguishable;
  bool stopped = false;
};

/// Laws to compare, and settings.
struct LawChoice {
  std::vector<FrictionLaw> laws = usual_laws();
  std::vector<int> joints;  ///< empty: joints_with_friction
  int folds = 5;
};

/// Compares friction laws by cross-validation. Each fold fits every law to the other folds' parts
/// and simulates its own parts open loop from fitted initial states. Neighbouring parts share a
/// fold.
///
/// @param pieces   at least two, one recording each
/// @param on_fold  called before each fold with the law and the fold's index from 0
/// @throws std::invalid_argument as `calibrate`; an error of a single law is stored in its failure
LawComparison compare_laws(const Mechanism& mechanism, const std::vector<Recording>& pieces,
                           const LawChoice& choice, const CalibrationOptions& options = {},
                           const CalibrationMonitor& monitor = {},
                           const std::function<void(const FrictionLaw&, int)>& on_fold = {});

/// Ranks laws by error and selects the recommended one. For compare_laws and its tests.
void rank_laws(LawComparison& comparison);

}  // namespace estimator
