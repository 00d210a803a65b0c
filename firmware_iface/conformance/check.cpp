#include "firmware_iface/conformance/check.hpp"

#include <algorithm>
#include <cstdlib>

#include "proto/notation/number_format.hpp"

namespace firmware_iface::conformance {
namespace {

using namespace std::chrono_literals;

// With a larger delay of this computer, a failure may not be the unit's.
constexpr Nanoseconds kLatenessMax = 20ms;
constexpr int kRepetitionsMax = 3;

CheckResult run_check(TestHost& host, const Check& check) {
  CheckResult row{.check = check};
  for (;;) {
    try {
      row.figure = check.run(host);
      row.verdict = Verdict::kPassed;
      return row;
    } catch (const NotTested& not_tested) {
      row.verdict = Verdict::kNotTested;
      row.detail = not_tested.reason;
      return row;
    } catch (const Failed& failed) {
      row.verdict = Verdict::kFailed;
      row.detail = failed.detail;
    }
    if (host.lateness() <= kLatenessMax || row.repetitions == kRepetitionsMax) return row;
    ++row.repetitions;
  }
}

}  // namespace

void expect_cause(unsigned fault_flags, unsigned cause) {
  expect((fault_flags & cause) != 0, "the unit trips, but with the cause {}",
         fault_names(fault_flags));
}

std::string text_of(double value) { return notation::format_number(value); }

std::vector<Check> all_checks() {
  std::vector<Check> checks;
  for (const auto& part : {frame_checks(), session_checks(), configure_checks(), sample_checks(),
                           command_checks(), trip_checks(), clear_checks(), format_checks()}) {
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

bool is_selected_by(const Check& check, const std::string& name) {
  const std::string id = check.id;
  if (name.empty() || !id.starts_with(name)) return false;
  const bool ends_here = id.size() == name.size();
  return ends_here || id[name.size()] < '0' || id[name.size()] > '9';
}

int Report::count(Verdict verdict) const {
  return static_cast<int>(std::ranges::count(rows, verdict, &CheckResult::verdict));
}

bool Report::has_passed() const {
  return trouble.empty() && !is_interrupted && is_tripped && count(Verdict::kFailed) == 0;
}

Report run_checks(Transport& transport, const Settings& settings,
                  const std::vector<std::string>& only, const std::atomic<bool>& stop,
                  const Progress& progress) {
  Report report;
  TestHost host(transport, settings, stop);
  try {
    host.connect();
    report.unit = host.first_facts();
    for (const Check& check : all_checks()) {
      const bool is_selected = std::ranges::any_of(
          only, [&](const std::string& name) { return is_selected_by(check, name); });
      if (!only.empty() && !is_selected) continue;
      progress.begin(check);
      report.rows.push_back(run_check(host, check));
      progress.end(report.rows.back());
    }
  } catch (const Failed& failed) {
    report.trouble = failed.detail;
  } catch (const Interrupted&) {
    report.is_interrupted = true;
  } catch (const PortClosed&) {
    report.trouble = "the port is closed";
  }
  report.is_tripped = host.finish();
  return report;
}

}  // namespace firmware_iface::conformance
