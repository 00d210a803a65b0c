#include "service/report/sections/label_texts.hpp"

#include <algorithm>
#include <set>

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

/// Returns the byte offset of each character of a UTF-8 text, and of the end of the text.
std::vector<std::size_t> character_begins(const std::string& text) {
  std::vector<std::size_t> begins;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if ((static_cast<unsigned char>(text[k]) & 0xC0U) != 0x80U) begins.push_back(k);
  }
  begins.push_back(text.size());
  return begins;
}

std::string cut_in_the_middle(const std::string& name, int characters_max) {
  const std::vector<std::size_t> begins = character_begins(name);
  const auto count = static_cast<int>(begins.size()) - 1;
  if (count <= characters_max) return name;
  const int tail = (characters_max - 1) / 2, head = characters_max - 1 - tail;
  return name.substr(0, begins[static_cast<std::size_t>(head)]) + "…" +
         name.substr(begins[static_cast<std::size_t>(count - tail)]);
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

std::vector<std::string> short_names(const std::vector<std::string>& names, int characters_max) {
  std::vector<std::string> different;  // in order of appearance
  for (const std::string& name : names) {
    if (std::ranges::count(different, name) == 0) different.push_back(name);
  }
  std::vector<std::string> cut;
  for (const std::string& name : different) cut.push_back(cut_in_the_middle(name, characters_max));
  if (std::set(cut.begin(), cut.end()).size() < cut.size()) {
    for (std::size_t k = 0; k < cut.size(); ++k) cut[k] = "recording " + std::to_string(k + 1);
  }
  std::vector<std::string> result;
  for (const std::string& name : names) {
    result.push_back(
        cut[static_cast<std::size_t>(std::ranges::find(different, name) - different.begin())]);
  }
  return result;
}

}  // namespace service
