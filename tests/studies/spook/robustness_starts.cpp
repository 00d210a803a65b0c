#include "tests/studies/spook/robustness_starts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace service {
namespace {

using estimator::Mechanism;
using estimator::Parameter;

constexpr double kNearZero = 1e-4;  // replaces a reference of zero

bool is_inertia(const Parameter& parameter) { return parameter.unit == "kg·m²"; }

/// Multiplies every free parameter by the factor that `factor_of` returns for the parameter.
Mechanism scaled(Mechanism mechanism, const std::function<double(const Parameter&)>& factor_of) {
  for (Parameter& parameter : mechanism.parameters) {
    if (!parameter.free) continue;
    const double reference = parameter.value == 0.0 ? kNearZero : parameter.value;
    parameter.value =
        std::clamp(reference * factor_of(parameter), parameter.lower, parameter.upper);
  }
  return mechanism;
}

/// Sets every free parameter with a physical lower bound to that bound.
Mechanism at_physical_bounds(Mechanism mechanism) {
  for (Parameter& parameter : mechanism.parameters) {
    if (parameter.free && parameter.lower >= 0.0) parameter.value = parameter.lower;
  }
  return mechanism;
}

}  // namespace

std::vector<NamedStart> make_starts(const StudySet& set, const Mechanism& mechanism,
                                    const StudyStarts& starts) {
  const Mechanism reference = with_true_values(set, mechanism);
  const double factor = starts.factor;
  std::vector<NamedStart> all = {
      {"reference", reference},
      {"all high", scaled(reference, [&](const Parameter&) { return factor; })},
      {"all low", scaled(reference, [&](const Parameter&) { return 1.0 / factor; })},
      {"inertias high, rest low",
       scaled(reference,
              [&](const Parameter& p) { return is_inertia(p) ? factor : 1.0 / factor; })},
      {"inertias low, rest high", scaled(reference, [&](const Parameter& p) {
         return is_inertia(p) ? 1.0 / factor : factor;
       })}};
  std::mt19937_64 random(starts.seed);
  std::uniform_real_distribution<double> exponent(-1.0, 1.0);
  for (int i = 0; i < starts.random; ++i) {
    all.push_back({"random " + std::to_string(i + 1), scaled(reference, [&](const Parameter&) {
                     return std::pow(factor, exponent(random));
                   })});
  }
  all.push_back({"at bounds", at_physical_bounds(reference)});
  return all;
}

}  // namespace service
