#include "firmware_iface/conformance/check.hpp"

#include <algorithm>
#include <cstdlib>

#include "proto/notation/number_format.hpp"

namespace firmware_iface::conformance {

void expect(bool condition, const std::string& detail) {
  if (!condition) throw Failed{detail};
}

std::string text_of(double value) { return notation::format_number(value); }

Measurement counted(std::int64_t count, const std::string& name, const std::string& note) {
  return {static_cast<double>(count), count == 1 ? name : name + "s", note};
}

std::vector<Check> all_checks() {
  std::vector<Check> checks;
  for (const auto& part :
       {frame_checks(), session_checks(), configure_checks(), sample_checks(), command_checks(),
        time_to_live_checks(), trip_checks(), clear_checks(), format_checks()}) {
    checks.insert(checks.end(), part.begin(), part.end());
  }
  // The order of PROTOCOL.md.
  static const std::string kSections = "FMHTECSRIK";
  std::ranges::stable_sort(checks, {}, [](const Check& check) {
    return std::pair(kSections.find(check.id[0]), std::atof(check.id + 1));
  });
  const auto overall = overall_checks();
  checks.insert(checks.end(), overall.begin(), overall.end());
  return checks;
}

const std::vector<std::string>& requirements_not_testable() {
  static const std::vector<std::string> kIds = {"F8", "T4", "E3", "E4", "E5", "S1", "S6", "I4"};
  return kIds;
}

}  // namespace firmware_iface::conformance
