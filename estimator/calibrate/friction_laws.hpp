#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A sum of terms of laws, of those of kFrictionTerms.
struct FrictionLaw {
  std::string name;  ///< "viscous+dry"
  std::vector<const LawTerm*> terms;

  /// Of one joint.
  int parameter_count() const;
};

/// @param name  terms with '+' between them, such as "viscous+dry"
/// @throws std::invalid_argument naming the terms there are
FrictionLaw parse_law(std::string_view name);

/// The laws that are worth comparing on any rig, simple ones first.
std::vector<FrictionLaw> usual_laws();

/// "viscous, drag, …": the words of all terms.
std::string friction_words();

/// Quantities of a joint that the term leaves to be estimated. The first is its size: at zero
/// nothing is left of the term.
std::vector<HingeQuantity> quantities_of(const LawTerm& term);

/// Of each joint: the torque from the work that motion without friction leaves unexplained.
/// Recordings and mechanism as for `calibrate`.
std::vector<FrictionScale> friction_scales(const Mechanism& mechanism,
                                           const std::vector<Recording>& recordings,
                                           const CalibrationOptions& options);

/// Joints that friction laws can be told of: those with a friction parameter that is free or not
/// zero; where there is none, all.
std::vector<int> joints_with_friction(const Mechanism& mechanism);

/// The mechanism with that law at the joints, its parameters free, and no other friction there.
/// @throws std::invalid_argument where friction of a joint is tied to something
Mechanism with_law(Mechanism mechanism, const FrictionLaw& law, const std::vector<int>& joints,
                   const std::vector<FrictionScale>& scales);

}  // namespace estimator
