#pragma once

#include <string>
#include <vector>

#include "service/study/study_data.hpp"

namespace service {

/// A mechanism to start from and what is wrong with it.
struct NamedStart {
  std::string name;
  estimator::Mechanism mechanism;
};

/// The reference first, its free parameters at the set's true values; then every free parameter
/// away from there by the factor: all up, all down, inertias against the rest, log-uniform at
/// random; then every free parameter that cannot be negative (inertias, friction) at its lower
/// bound. Values stay within their bounds; a parameter whose reference is zero is varied around a
/// ten-thousandth.
std::vector<NamedStart> make_starts(const StudySet& set, const estimator::Mechanism& mechanism,
                                    const StudyStarts& starts);

}  // namespace service
