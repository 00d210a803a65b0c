#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A friction law: a sum of terms from kFrictionTerms.
struct FrictionLaw {
  std::string name;  ///< "viscous+dry"
  std::vector<const LawTerm*> terms;

  /// Number of parameters per joint.
  int parameter_count() const;
};

/// Parses a friction law.
/// @param name  terms separated by '+', such as "viscous+dry"
/// @throws std::invalid_argument listing the terms
FrictionLaw parse_law(std::string_view name);

/// Returns the laws to compare by default, simple ones first.
std::vector<FrictionLaw> usual_laws();

/// Returns the names of all terms: "viscous, drag, …".
std::string friction_words();

/// Returns the joint quantities that the term estimates. The first is its magnitude: at zero the
/// term vanishes.
std::vector<JointQuantity> quantities_of(const LawTerm& term);

/// Returns the friction scale of each joint, from the work that is unexplained without friction.
/// Recordings and mechanism as for `calibrate`.
std::vector<FrictionScale> friction_scales(const Mechanism& mechanism,
                                           const std::vector<Recording>& recordings,
                                           const CalibrationOptions& options);

/// Returns the joints whose friction can be compared: those with a friction parameter that is free
/// or nonzero; all joints if there are none.
std::vector<int> joints_with_friction(const Mechanism& mechanism);

/// Returns the mechanism with this friction law at the joints, its parameters free, and no other.
/// @throws std::invalid_argument if a friction parameter of a joint is constrained
/// (`ParameterDependency`)
Mechanism with_law(Mechanism mechanism, const FrictionLaw& law, const std::vector<int>& joints,
                   const std::vector<FrictionScale>& scales);

}  // namespace estimator
