#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/model/inertia/inertia_parameterization.hpp"

namespace service {

/// Returns the name of a kind of estimates: "physical" or "shadow".
inline std::string to_text(estimator::EstimateKind kind) {
  return kind == estimator::EstimateKind::kPhysical ? "physical" : "shadow";
}

/// Parses the kind of estimates, "physical" or "shadow"; nullopt for any other word.
inline std::optional<estimator::EstimateKind> parse_estimate_kind(const std::string& word) {
  if (word == "physical") return estimator::EstimateKind::kPhysical;
  if (word == "shadow") return estimator::EstimateKind::kShadow;
  return std::nullopt;
}

/// Returns the inertia parameterizations with their names. The default is first.
inline std::vector<std::pair<std::string, estimator::InertiaParameterization>>
inertia_parameterizations() {
  using estimator::InertiaParameterization;
  std::vector<std::pair<std::string, InertiaParameterization>> charts;
  for (const InertiaParameterization chart :
       {InertiaParameterization::kLogCholesky, InertiaParameterization::kExponentialEigenvalue,
        InertiaParameterization::kEntries}) {
    charts.emplace_back(to_string(chart), chart);
  }
  return charts;
}

}  // namespace service
