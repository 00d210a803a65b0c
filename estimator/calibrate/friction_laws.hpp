#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A friction law, given as a sum of terms from kFrictionTerms.
struct FrictionLaw {
  std::string name;  ///< "viscous+dry"
  std::vector<const LawTerm*> terms;

  /// Returns the number of parameters per joint.
  int parameter_count() const;
};

/// Parses the name of a friction law.
/// @param name  terms separated by '+', such as "viscous+dry"
/// @throws std::invalid_argument listing the valid terms
FrictionLaw parse_law(std::string_view name);

/// Returns the friction laws to compare by default, simple ones first.
std::vector<FrictionLaw> usual_laws();

/// Returns the names of all friction terms as text: "viscous, drag, …".
std::string friction_words();

/// Returns the joint parameters of a friction term. The first is its magnitude; at a magnitude of
/// zero the term vanishes.
std::vector<JointQuantity> quantities_of(const LawTerm& term);

/// Returns the magnitude of friction at each joint, estimated from the mechanical work that a model
/// without friction leaves unexplained. Recordings and mechanism as for `calibrate`.
std::vector<FrictionScale> friction_scales(const Mechanism& mechanism,
                                           const std::vector<Recording>& recordings,
                                           const CalibrationOptions& options);

/// Returns the joints at which friction laws are compared: joints with a free or nonzero friction
/// parameter, or all joints if there are none.
std::vector<int> joints_with_friction(const Mechanism& mechanism);

/// Returns the mechanism with the given law as the only friction at the given joints. The
/// parameters of the law are free.
/// @throws std::invalid_argument if a friction parameter of a joint is constrained
/// (`ParameterDependency`)
Mechanism with_law(Mechanism mechanism, const FrictionLaw& law, const std::vector<int>& joints,
                   const std::vector<FrictionScale>& scales);

}  // namespace estimator
