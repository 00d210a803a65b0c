#include "firmware_iface/conformance/run.hpp"

#include <algorithm>

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
