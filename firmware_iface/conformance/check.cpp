#include "firmware_iface/conformance/check.hpp"

#include <algorithm>

#include "proto/notation/number_format.hpp"

namespace firmware_iface::conformance {
namespace {

using namespace std::chrono_literals;

// With a larger delay of this computer, a failure may not be the unit's.
constexpr Nanoseconds kLatenessMax = 20ms;
constexpr int kRepetitionsMax = 3;

CheckResult run_check(TestHost& host, const ConformanceCheck& check) {
  CheckResult row{.check = check};
  for (;;) {
    try {
      row.figure = check.run(host);
      row.verdict = CheckVerdict::kPassed;
      return row;
    } catch (const CheckNotTested& not_tested) {
      row.verdict = CheckVerdict::kNotTested;
      row.detail = not_tested.reason;
      return row;
    } catch (const CheckFailed& failed) {
      row.verdict = CheckVerdict::kFailed;
      row.detail = failed.detail;
    }
    if (host.host_delay_max() <= kLatenessMax || row.repetitions == kRepetitionsMax) return row;
    ++row.repetitions;
  }
}

}  // namespace

void expect_trip_cause(unsigned fault_flags, unsigned cause) {
  expect((fault_flags & cause) != 0, "the unit trips, but with the cause {}",
         fault_names(fault_flags));
}

std::string format_value(double value) { return notation::format_number(value); }

std::vector<ConformanceCheck> all_checks() {
  std::vector<ConformanceCheck> checks;
  for (const auto& part : {frame_checks(), session_checks(), configure_checks(), sample_checks(),
                           command_checks(), trip_checks(), clear_checks(), format_checks()}) {
    checks.insert(checks.end(), part.begin(), part.end());
  }
  // The order of PROTOCOL.md.
  static const std::string kSections = "FMHTECSRIK";
  std::ranges::stable_sort(checks, {}, [](const ConformanceCheck& check) {
    return std::pair(kSections.find(check.id[0]), std::atof(check.id + 1));
  });
  const auto overall = overall_checks();
  checks.insert(checks.end(), overall.begin(), overall.end());
  return checks;
}

const std::vector<std::string>& untestable_requirements() {
  static const std::vector<std::string> kIds = {"F8", "T4", "E3", "E4", "E5", "S1", "S6", "I4"};
  return kIds;
}

bool is_selected_by(const ConformanceCheck& check, const std::string& name) {
  const std::string id = check.id;
  if (name.empty() || !id.starts_with(name)) return false;
  const bool ends_here = id.size() == name.size();
  return ends_here || id[name.size()] < '0' || id[name.size()] > '9';
}

int ConformanceReport::count(CheckVerdict verdict) const {
  return static_cast<int>(std::ranges::count(rows, verdict, &CheckResult::verdict));
}

bool ConformanceReport::has_passed() const {
  return trouble.empty() && !is_interrupted && is_tripped && count(CheckVerdict::kFailed) == 0;
}

ConformanceReport run_checks(Transport& transport, const TestSettings& settings,
                             const std::vector<std::string>& only, const std::atomic<bool>& stop,
                             const CheckProgress& progress) {
  ConformanceReport report;
  TestHost host(transport, settings, stop);
  try {
    host.connect();
    report.unit = host.first_hello_reply();
    for (const ConformanceCheck& check : all_checks()) {
      const bool is_selected = std::ranges::any_of(
          only, [&](const std::string& name) { return is_selected_by(check, name); });
      if (!only.empty() && !is_selected) continue;
      progress.begin(check);
      report.rows.push_back(run_check(host, check));
      progress.end(report.rows.back());
    }
  } catch (const CheckFailed& failed) {
    report.trouble = failed.detail;
  } catch (const TestInterrupted&) {
    report.is_interrupted = true;
  } catch (const PortClosed&) {
    report.trouble = "the port is closed";
  }
  report.is_tripped = host.finish();
  return report;
}

}  // namespace firmware_iface::conformance
