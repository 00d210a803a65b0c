#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A friction law: a sum of terms from kFrictionTerms, such as viscous and dry friction.
struct FrictionLaw {
  std::string name;  ///< "viscous+dry"
  std::vector<const FrictionLawTerm*> terms;

  /// Returns the number of friction parameters of one joint.
  int parameter_count() const;
};

/// Parses the name of a friction law.
/// @param name  terms separated by '+', such as "viscous+dry"
/// @throws std::invalid_argument listing the valid terms
FrictionLaw parse_friction_law(std::string_view name);

/// Returns the friction laws that are compared by default, in order of increasing complexity.
std::vector<FrictionLaw> default_friction_laws();

/// Returns the names of all terms of friction laws as text: "viscous, drag, …".
std::string list_friction_terms();

/// Returns the joint parameters of a term of a friction law. The first parameter is the magnitude:
/// if it is zero, the term vanishes.
std::vector<JointParameter> friction_term_parameters(const FrictionLawTerm& term);

/// Estimates the magnitude of friction at each joint from the mechanical work that a model without
/// friction leaves unexplained. Arguments as for `calibrate`.
std::vector<FrictionScale> estimate_friction_scales(const Mechanism& mechanism,
                                                    const std::vector<Recording>& recordings,
                                                    const CalibrationOptions& options);

/// Returns the joints with a free or nonzero friction parameter, or all joints if there are none.
/// Friction laws are compared at these joints.
std::vector<int> find_joints_with_friction(const Mechanism& mechanism);

/// Replaces the friction at the given joints by a friction law, and returns the mechanism. The
/// parameters of the law are free.
/// @throws std::invalid_argument if a friction parameter of a joint is constrained
/// (`ParameterDependency`)
Mechanism replace_friction_law(Mechanism mechanism, const FrictionLaw& law,
                               const std::vector<int>& joints,
                               const std::vector<FrictionScale>& scales);

/// The mean of a quantity over parts of the recordings, and the standard error of this mean.
struct MeanWithStandardError {
  double value = 0.0;
  double deviation = 0.0;
};

/// The prediction errors of one friction law on held-out parts of the recordings.
///
/// Laws are compared by the logarithms of errors: errors depend on the motion, but the ratio of two
/// laws' errors is similar for all parts. The mean logarithm is proportional to the negative
/// log-likelihood for Gaussian errors of unknown size in each part.
struct FrictionLawScore {
  FrictionLaw law;
  int order = 0;       ///< position in the list of laws, simple ones first
  int parameters = 0;  ///< number of friction parameters of all joints
  /// Root-mean-square prediction error of the open-loop simulation of each part [rad]; NaN if none.
  std::vector<double> errors;
  MeanWithStandardError log_error;  ///< mean of ln(error/rad)
  MeanWithStandardError
      log_ratio;           ///< mean of ln(error / error of the best law) over the same parts
  double fit_error = 0.0;  ///< root-mean-square error on the parts that were fitted [rad]
  bool converged = true;   ///< whether the fits of all folds converged
  std::string failure;     ///< reason for a missing result; empty if there is a result
  /// Names of parameters whose estimate is zero (their lower bound) in more than half of the folds.
  std::vector<std::string> at_zero;
  /// Name of the law without the parameters in `at_zero`; empty if `at_zero` is empty.
  std::string reduces_to;
  std::vector<ParameterEstimate> estimates;  ///< friction parameters from the first fold

  bool has_result() const { return failure.empty(); }
};

struct FrictionLawComparison {
  std::vector<std::string> joints;  ///< joints with the compared laws
  std::vector<std::string> parts;
  std::vector<JointKind> kinds;  ///< joint kinds of the sensors whose errors are pooled
  int folds = 0;
  std::vector<FrictionLawScore> laws;  ///< sorted by error; laws without a result come last
  /// Index of the recommended law: among laws within one standard error of the best law, the first
  /// with the fewest parameters. −1 if no law has a result.
  int recommended = -1;
  /// Indices of the best law, and of the laws that are indistinguishable from it: their errors
  /// differ by less than two standard errors.
  std::vector<int> indistinguishable;
  bool stopped = false;
};

/// The friction laws and joints to compare, and settings of the comparison.
struct FrictionLawComparisonOptions {
  std::vector<FrictionLaw> laws = default_friction_laws();
  std::vector<int> joints;  ///< joints whose laws are compared; default find_joints_with_friction
  int folds = 5;
};

/// Compares friction laws by cross-validation. Each fold holds out neighbouring parts of the
/// recordings and fits every law to all other parts. The held-out parts are then simulated open
/// loop from fitted initial states.
/// @param parts   at least two parts of the data, given as one recording each
/// @param on_fold  called before each fold with the law and the fold's index from 0
/// @throws std::invalid_argument as `calibrate`; errors of single laws are stored in
///         FrictionLawScore::failure
FrictionLawComparison compare_friction_laws(
    const Mechanism& mechanism, const std::vector<Recording>& parts,
    const FrictionLawComparisonOptions& choice, const CalibrationOptions& options = {},
    const CalibrationMonitor& monitor = {},
    const std::function<void(const FrictionLaw&, int)>& on_fold = {});

/// Sorts friction laws by prediction error and selects the recommended law. Public for tests.
void rank_friction_laws(FrictionLawComparison& comparison);

}  // namespace estimator
