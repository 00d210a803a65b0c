#include "service/report/error_units.hpp"

#include <algorithm>

#include "service/text/number_format.hpp"

namespace service {
namespace {

std::string units_of_kinds(const std::vector<estimator::JointKind>& kinds, const std::string& turn,
                           const std::string& slide) {
  const auto slides = std::ranges::count(kinds, estimator::JointKind::kPrismatic);
  if (slides == 0) return turn;
  return slides == std::ssize(kinds) ? slide : turn + " or " + slide;
}

}  // namespace

std::string error_units(const std::vector<estimator::JointKind>& kinds) {
  return units_of_kinds(kinds, joint_units(estimator::JointKind::kRevolute).error,
                        joint_units(estimator::JointKind::kPrismatic).error);
}

std::string pooled_error_units(const std::vector<estimator::JointKind>& kinds) {
  return units_of_kinds(kinds, joint_units(estimator::JointKind::kRevolute).error,
                        format_number(estimator::kSlidePerRadian) + " " +
                            joint_units(estimator::JointKind::kPrismatic).error);
}

}  // namespace service
