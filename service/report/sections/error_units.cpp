#include "service/report/sections/error_units.hpp"

#include <algorithm>

#include "service/text/number_format.hpp"

namespace service {
namespace {

/// Returns the texts of the joint types in `kinds`, joined by "or". Without joints it is the text
/// of revolute joints.
template <typename Text>
std::string units_of_kinds(const std::vector<estimator::JointKind>& kinds, const Text& text) {
  std::string all;
  for (const estimator::JointTraits& each : estimator::kJointKinds) {
    if (std::ranges::count(kinds, each.kind) == 0) continue;
    all += (all.empty() ? "" : " or ") + text(each.units);
  }
  return all.empty() ? text(estimator::kJointKinds[0].units) : all;
}

}  // namespace

std::string error_units(const std::vector<estimator::JointKind>& kinds) {
  return units_of_kinds(
      kinds, [](const estimator::JointUnits& units) { return std::string(units.error); });
}

std::string pooled_error_units(const std::vector<estimator::JointKind>& kinds) {
  return units_of_kinds(kinds, [](const estimator::JointUnits& units) {
    return (units.scale == 1.0 ? "" : format_number(units.scale) + " ") + units.error;
  });
}

}  // namespace service
