#pragma once

#include <functional>
#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/calibrate/friction_laws.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A mean over pieces, with its standard error.
struct PieceMean {
  double value = 0.0;
  double deviation = 0.0;
};

/// How well a friction law predicts what it was not fitted to.
///
/// Errors are compared by their logarithms: those of pieces differ by what moves in them, and a
/// law that is right by a factor is right by it everywhere. For Gaussian errors of unknown size in
/// each piece that is the likelihood.
struct LawScore {
  FrictionLaw law;
  int order = 0;       ///< in which laws were asked for, simple ones first
  int parameters = 0;  ///< of friction, all joints
  std::vector<double>
      errors;              ///< held out, of every piece: pooled_rmse, open loop [rad]; NaN: none
  PieceMean log_error;     ///< of ln(error/rad)
  PieceMean log_ratio;     ///< of ln(error / that of the law with the least), paired
  double fit_error = 0.0;  ///< root mean square over the folds' own pieces [rad]
  bool converged = true;   ///< every fold
  std::string failure;     ///< why there is no result; empty: there is one
  /// Parameters that end at zero, their bound, in more than half of the folds.
  std::vector<std::string> at_zero;
  std::string reduces_to;                    ///< the law that is left then; empty: none is
  std::vector<ParameterEstimate> estimates;  ///< of friction, from the first fold

  bool has_result() const { return failure.empty(); }
};

struct LawComparison {
  std::vector<std::string> joints;  ///< at which the laws stand
  std::vector<std::string> pieces;
  std::vector<JointKind> kinds;  ///< of the sensors whose errors are pooled
  int folds = 0;
  std::vector<LawScore> laws;  ///< by error, those without result last
  /// Of the laws within one standard error of the best the one with the fewest parameters, and of
  /// those the first that was asked for; −1: none.
  int recommended = -1;
  /// Laws, by index, that the data cannot tell from the best: within two standard errors. With it.
  std::vector<int> alike;
  bool stopped = false;
};

/// What is compared, and how.
struct LawChoice {
  std::vector<FrictionLaw> laws = usual_laws();
  std::vector<int> joints;  ///< empty: joints_with_friction
  int folds = 5;
};

/// Fits every law to the pieces but those of a fold, and simulates these open loop from initial
/// states fitted to them, fold by fold. Neighbouring pieces share a fold.
///
/// @param pieces   at least two, each a recording of its own
/// @param on_fold  called before each fold with the law and the fold's index from 0
/// @throws std::invalid_argument as `calibrate`; what a single law is refused for is its failure
LawComparison compare_laws(const Mechanism& mechanism, const std::vector<Recording>& pieces,
                           const LawChoice& choice, const CalibrationOptions& options = {},
                           const CalibrationMonitor& monitor = {},
                           const std::function<void(const FrictionLaw&, int)>& on_fold = {});

/// Ranks laws with errors, and tells which is recommended. For compare_laws and its tests.
void rank_laws(LawComparison& comparison);

}  // namespace estimator
