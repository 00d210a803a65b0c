#pragma once

#include <optional>
#include <string>

#include "estimator/fit/fit_options.hpp"

namespace service {

/// "physical" or "shadow".
inline std::string to_text(estimator::EstimateKind kind) {
  return kind == estimator::EstimateKind::kPhysical ? "physical" : "shadow";
}

/// Reverse of `to_text`; nothing for any other word.
inline std::optional<estimator::EstimateKind> parse_estimate_kind(const std::string& word) {
  if (word == "physical") return estimator::EstimateKind::kPhysical;
  if (word == "shadow") return estimator::EstimateKind::kShadow;
  return std::nullopt;
}

}  // namespace service
