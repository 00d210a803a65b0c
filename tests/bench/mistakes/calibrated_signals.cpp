#include "tests/bench/mistakes/calibrated_signals.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "estimator/assessment/model_test/verdict.hpp"
#include "estimator/diagnostics/repair/diagnosed_calibration.hpp"
#include "service/messages/message_text.hpp"
#include "tests/bench/mistakes/signal_faults.hpp"

namespace signal_faults {
namespace {

using estimator::Calibration;
using estimator::Finding;
using estimator::ParameterEstimate;
using random_rigs::RandomRig;

constexpr double kBeside = 0.1;  // tolerance of a fault's reported time [s]
constexpr double kMoved = 1.0;   // largest harmless change of an estimate in clean deviations

/// Limit of the width of intervals relative to those of the clean recording without the readings
/// that a fault removes. If rows are absent: relative to the same rows with their command but
/// without readings.
constexpr double kWider = 1.5;
constexpr double kWiderWithoutRows = 1.2;

struct Tally {
  int planted = 0;
  int found = 0;      ///< identified at its place
  int sized = 0;      ///< of these, with the right size
  int otherwise = 0;  ///< by a warning that the clean recording does not have, or by the verdict
  int silent = 0;
  int harmed = 0;   ///< of these, with an estimate moved by more than kMoved
  int unmoved = 0;  ///< no estimate moved by more than that
  int narrow = 0;   ///< no interval wider than the limit
};

/// The result, or the reason why there is none.
struct Outcome {
  std::vector<Finding> findings;
  std::vector<ParameterEstimate> parameters;  ///< empty: refused
  estimator::VerdictKind verdict = estimator::VerdictKind::kNoFit;
};

Outcome calibrated(const RandomRig& rig, const estimator::Recording& recording) {
  try {
    const Calibration result =
        estimator::calibrate_with_diagnostics(rig.mechanism, {recording}, {}).calibration;
    return {result.findings, result.parameters, result.verdict.kind};
  } catch (const estimator::UnusableInput& refused) {
    return {refused.findings, {}};
  } catch (const std::invalid_argument& refused) {
    Finding finding = estimator::make_finding(
        {estimator::MessageCode::kText, {{"text", std::string(refused.what())}}});
    finding.severity = estimator::Severity::kFault;
    return {{finding}, {}};
  }
}

std::string kind_of(const Finding& finding) { return service::describe_finding(finding).kind; }

bool is_alarm(const Finding& finding) { return finding.severity != estimator::Severity::kNote; }

/// Whether a warning is absent for the clean recording.
bool is_news(const Finding& finding, const Outcome& clean) {
  return is_alarm(finding) && std::ranges::none_of(clean.findings, [&](const Finding& known) {
           return kind_of(known) == kind_of(finding) && known.channel == finding.channel;
         });
}

/// Largest change of an estimate in clean standard deviations, and of an interval's width.
struct Change {
  double moved = 0.0, wider = 0.0;
};

Change change_of(const Outcome& clean, const Outcome& other) {
  Change change;
  for (const ParameterEstimate& before : clean.parameters) {
    const auto after = std::ranges::find(other.parameters, before.name, &ParameterEstimate::name);
    if (after == other.parameters.end()) return {INFINITY, INFINITY};
    if (!(before.standard_deviation > 0.0) || !std::isfinite(before.standard_deviation)) continue;
    change.moved =
        std::max(change.moved, std::abs(after->value - before.value) / before.standard_deviation);
    change.wider = std::max(change.wider, after->standard_deviation / before.standard_deviation);
  }
  return change;
}

class Bench {
 public:
  explicit Bench(const CalibratedRun& run) : run_(run) {}

  void examine(const std::string& kind, unsigned seed) {
    random_rigs::RigChoice choice;
    if (run_.described) choice.law = random_rigs::Law::kDry;
    const RandomRig rig = random_rigs::draw_rig(kind, seed, choice);
    const Outcome clean = calibrated(rig, rig.recording);
    const std::string law = rig.other_law ? "other law" : "its law";
    const bool alarmed = std::ranges::any_of(clean.findings, [](const Finding& finding) {
      return is_alarm(finding) && is_of_signals(kind_of(finding));
    });
    const std::vector<std::string> groups = {law, kind, rig.driven ? "driven" : "released", "all"};
    for (const std::string& group : groups) {
      Tally& tally = tallies_["clean"][group];
      ++tally.planted;
      tally.otherwise += alarmed ? 1 : 0;
      tally.silent += alarmed ? 0 : 1;
    }
    const double quantum = last_quantum(rig);
    const estimator::Segment& segment = rig.recording.segments.front();
    char signal[64];
    std::snprintf(signal, sizeof signal, ", noise %.1f mrad, quantum %.1f, period %.0f ms",
                  1e3 * rig.noise, 1e3 * quantum, 1e3 * segment.period);
    const std::string name = kind + " " + std::to_string(seed) + ", " + law + signal;
    if (alarmed && run_.verbose) report(name + ", clean", clean, {});
    const Eigen::Index row = lively_row(segment, seed);
    for (const SignalFault& fault : all()) {
      if (!is_wanted(fault.name)) continue;
      if (fault.size_kind == SizeKind::kCounts && !(quantum > 0.0)) continue;  // no quantum
      estimator::Recording recording = rig.recording;
      fault.apply(recording.segments.front(), row, quantum);
      estimator::Recording emptied = rig.recording;
      if (fault.empty) fault.empty(emptied.segments.front());
      judge(name, groups, fault, segment, segment.time(row), quantum,
            fault.empty ? calibrated(rig, emptied) : clean, calibrated(rig, recording));
    }
    for (const int percent : {1, 5}) {
      const SignalFault fault{.name = std::to_string(percent) + " % of rows", .kinds = {}};
      if (!is_wanted(fault.name)) continue;
      // The information of their readings is lost either way.
      const DroppedRows lost = drop_rows(rig, 0.01 * percent, seed);
      judge(name, groups, fault, segment, 0.0, quantum, calibrated(rig, lost.emptied),
            calibrated(rig, lost.absent));
    }
  }

  void print() const {
    std::printf("%-16s %-10s %8s %6s %6s %10s %7s %12s %8s %8s\n", "planted", "rigs", "planted",
                "found", "sized", "otherwise", "silent", "silent+moved", "unmoved", "narrow");
    for (const auto& [fault, groups] : tallies_) {
      for (const auto& [group, of] : groups) {
        std::printf("%-16s %-10s %8d %6d %6d %10d %7d %12d %8d %8d\n", fault.c_str(), group.c_str(),
                    of.planted, of.found, of.sized, of.otherwise, of.silent, of.harmed, of.unmoved,
                    of.narrow);
      }
    }
  }

 private:
  bool is_wanted(const std::string& fault) const {
    return run_.only.empty() || std::ranges::count(run_.only, fault) > 0;
  }

  void judge(const std::string& name, const std::vector<std::string>& groups,
             const SignalFault& fault, const estimator::Segment& segment, double time,
             double quantum, const Outcome& clean, const Outcome& outcome) {
    bool found = false, sized = false;
    for (const Finding& finding : outcome.findings) {
      if (std::ranges::count(fault.kinds, kind_of(finding)) == 0) continue;
      if (fault.size_kind == SizeKind::kNone) {
        found = sized = true;
        continue;
      }
      if (std::abs(finding.from - time) > kBeside) continue;
      found = true;
      const bool is_lost = fault.size_kind == SizeKind::kTime;
      const double most = is_lost ? segment.period : 1.01 * quantum;
      sized = sized || (is_lost == (kind_of(finding) == "lost-time") &&
                        std::abs(finding.size - fault.size_in(segment, quantum)) <= most);
    }
    const bool otherwise = outcome.verdict >= estimator::VerdictKind::kApproximate ||
                           std::ranges::any_of(outcome.findings, [&](const Finding& finding) {
                             return is_news(finding, clean);
                           });
    const Change change = change_of(clean, outcome);
    const double bound = fault.kinds.empty() ? kWiderWithoutRows : kWider;
    const bool silent = !found && !otherwise;
    for (const std::string& group : groups) {
      Tally& tally = tallies_[fault.name][group];
      ++tally.planted;
      tally.found += found ? 1 : 0;
      tally.sized += sized ? 1 : 0;
      tally.otherwise += !found && otherwise ? 1 : 0;
      tally.silent += silent ? 1 : 0;
      tally.harmed += silent && change.moved > kMoved ? 1 : 0;
      tally.unmoved += change.moved <= kMoved ? 1 : 0;
      tally.narrow += change.wider <= bound ? 1 : 0;
    }
    if (!run_.verbose || (found && change.wider <= bound)) return;
    report(name + ", " + fault.name +
               (found       ? ": found"
                : otherwise ? ": otherwise"
                            : ": silent"),
           outcome, change);
  }

  static void report(const std::string& title, const Outcome& outcome, const Change& change) {
    std::printf("%s, moved %.2g, wider %.2g\n", title.c_str(), change.moved, change.wider);
    for (const Finding& finding : outcome.findings) {
      const service::FindingText text = service::describe_finding(finding);
      std::printf("      %s: %s\n", text.kind.c_str(), text.what.c_str());
    }
    std::fflush(stdout);
  }

  const CalibratedRun& run_;
  std::map<std::string, std::map<std::string, Tally>> tallies_;
};

}  // namespace

void run_calibrated(const CalibratedRun& run) {
  Bench bench(run);
  for (const std::string& kind : run.kinds) {
    for (int i = 0; i < run.rigs; ++i) {
      bench.examine(kind, static_cast<unsigned>(run.seed + i));
    }
  }
  bench.print();
}

}  // namespace signal_faults
