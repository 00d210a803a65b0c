#pragma once

#include <string>
#include <vector>

#include "tests/studies/study_data.hpp"

namespace service {

/// Mechanism with initial parameter values and a name for these values.
struct NamedStart {
  std::string name;
  estimator::Mechanism mechanism;
};

/// Returns mechanisms with different initial values. In the first, the reference, free parameters
/// have the set's true values. Others multiply or divide every free parameter by a factor: all up,
/// all down, inertias against the rest, and random (log-uniform). The last sets every free
/// parameter that cannot be negative (inertias, friction) to its lower bound. Values stay within
/// bounds; for true values of zero, 1e-4 is used.
std::vector<NamedStart> make_starts(const StudySet& set, const estimator::Mechanism& mechanism,
                                    const StudyStarts& starts);

}  // namespace service
