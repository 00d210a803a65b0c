#pragma once

#include <string>
#include <vector>

#include "tests/studies/study_data.hpp"

namespace service {

/// A mechanism with initial values, and a name for them.
struct NamedStart {
  std::string name;
  estimator::Mechanism mechanism;
};

/// Returns the reference first, its free parameters at the set's true values. Then every free
/// parameter is changed by the factor: all up, all down, inertias against the rest, and random
/// (log-uniform). Last, every free parameter that cannot be negative (inertias, friction) is at its
/// lower bound. Values stay within bounds; zero references are replaced by 1e-4.
std::vector<NamedStart> make_starts(const StudySet& set, const estimator::Mechanism& mechanism,
                                    const StudyStarts& starts);

}  // namespace service
