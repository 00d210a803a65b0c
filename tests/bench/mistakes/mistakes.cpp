// Detection rates of mistakes in the description of a rig, over random rigs. Takes minutes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "estimator/diagnostics/description/description_errors.hpp"
#include "estimator/diagnostics/description/excerpt.hpp"
#include "estimator/diagnostics/misfit/excitation.hpp"
#include "estimator/diagnostics/repair/diagnosed_calibration.hpp"
#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "estimator/model/encoder.hpp"
#include "service/messages/message_table.hpp"
#include "service/messages/message_text.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/bench/mistakes/calibrated_signals.hpp"
#include "tests/bench/mistakes/signal_faults.hpp"
#include "tests/bench/rigs/random_rigs.hpp"
#include "tests/support/import_csv.hpp"

namespace {

using random_rigs::draw_rig;
using random_rigs::RandomRig;

std::string kind_of(const estimator::DescriptionHypothesis& hypothesis) {
  return service::find_message_row(hypothesis.message.code).id;
}

std::string text_of(const estimator::DescriptionHypothesis& hypothesis) {
  return service::format_message(hypothesis.message);
}

/// The finding expected for a mistake that was injected by applying the repair of another.
std::string opposite(const std::vector<estimator::DescriptionHypothesis>& all,
                     std::size_t planted) {
  const estimator::DescriptionHypothesis& own = all[planted];
  const std::string kind = kind_of(own);
  // Such hypotheses come in pairs that cancel each other.
  if (kind == "absolute-angle") return text_of(all[planted + 1]);
  if (kind == "relative-angle") return text_of(all[planted - 1]);
  if (kind != "wrong-unit") return text_of(own);
  std::size_t first = planted;
  while (first > 0 && all[first - 1].channel == own.channel && kind_of(all[first - 1]) == kind) {
    --first;
  }
  return text_of(all[first + ((planted - first) ^ 1U)]);
}

void print_findings(const std::vector<estimator::Finding>& findings) {
  for (const auto& finding : findings) {
    std::printf("      %s\n", service::describe_finding(finding).what.c_str());
  }
  std::fflush(stdout);
}

constexpr double kShift = 0.3;  // error of a wrong zero [rad]

std::vector<estimator::Recording> with_shifted_zero(const RandomRig& rig,
                                                    const std::string& channel) {
  std::vector<estimator::Recording> readings = {rig.recording};
  const std::vector<estimator::Encoder> sensors = estimator::used_encoders(rig.mechanism);
  const auto sensor = std::ranges::find(sensors, channel, &estimator::Encoder::name);
  readings[0].segments[0].angles.col(sensor - sensors.begin()).array() += kShift;
  return readings;
}

struct Tally {
  int planted = 0, found = 0, other = 0, unexplained = 0, explained = 0, unchecked = 0, missed = 0;
  int first = 0;    // named before any other cause
  int accused = 0;  // rigs with fixed values that the recording is said to contradict
};

struct Run {
  std::vector<std::string> kinds, only;
  int rigs = 5, seed = 1;
  bool verbose = false, described = false;
  std::map<std::string, Tally> tallies;
  double longest = 0.0;
};

/// Mistakes in the description, searched for before any fit.
void run_before(Run& to) {
  for (const std::string& kind : to.kinds) {
    for (int run = 0; run < to.rigs; ++run) {
      const RandomRig rig = draw_rig(kind, static_cast<unsigned>(to.seed + run));
      const std::string name = kind + " " + std::to_string(to.seed + run);
      const std::vector<estimator::DescriptionHypothesis> all =
          estimator::list_common_description_errors(rig.mechanism, {rig.recording});
      for (std::size_t i = 0; i <= all.size(); ++i) {
        const bool clean = i == all.size();
        if (!clean && std::ranges::find(to.only, kind_of(all[i])) == to.only.end()) continue;
        const bool shifted = !clean && kind_of(all[i]) == "shifted-zero";
        // A wrong zero is searched for from several starts.
        if (shifted && i > 0 && all[i - 1].message == all[i].message) continue;
        const auto described =
            clean || shifted ? rig.mechanism : corrected_mechanism(rig.mechanism, all[i]);
        const std::vector<estimator::Recording> readings =
            clean     ? std::vector{rig.recording}
            : shifted ? with_shifted_zero(rig, all[i].channel)
                      : corrected_recordings({rig.recording}, all[i]);
        const std::clock_t begin = std::clock();
        const auto findings = estimator::examine_description(described, readings).findings;
        const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        to.longest = std::max(to.longest, took);
        Tally& tally = to.tallies[clean ? "clean " + kind : kind_of(all[i]) + " " + kind];
        ++tally.planted;
        const std::string wanted = clean ? "" : opposite(all, i);
        std::string verdict = "missed";
        for (const auto& finding : findings) {
          const service::FindingText text = service::describe_finding(finding);
          if (text.kind == "unexplained" || text.kind == "not-checked") {
            if (verdict == "missed") verdict = text.kind;
          } else if (!clean && text.what.find(wanted) != std::string::npos) {
            verdict = "found";
          } else if (verdict != "found") {
            verdict = "other";
          }
        }
        if (verdict == "missed") {
          const auto trials = estimator::try_description_errors(
              described, estimator::select_excerpts(described, readings, {}), {});
          if (trials.trials.empty()) verdict = "explained";
        }
        ++(verdict == "found"         ? tally.found
           : verdict == "other"       ? tally.other
           : verdict == "unexplained" ? tally.unexplained
           : verdict == "explained"   ? tally.explained
           : verdict == "not-checked" ? tally.unchecked
                                      : tally.missed);
        if (to.verbose && verdict != (clean ? "explained" : "found")) {
          std::printf("%s driven %d law %d noise %.1f mrad %s (%.2f s): %s\n", name.c_str(),
                      rig.driven, rig.other_law, 1e3 * rig.noise, clean ? "clean" : wanted.c_str(),
                      took, verdict.c_str());
          print_findings(findings);
        }
      }
    }
  }
}

/// Disturbances of a recording with a correct description.
struct Disturbance {
  const char* name;
  const char* kind;   ///< of the expected finding; empty: none
  const char* words;  ///< some occur in its sentence, alone or among equivalents
  double clip = 1.0;
  std::function<void(estimator::Segment&)> apply = {};
  random_rigs::RigFault fault = {};
};

Eigen::Index rows_of_delay(const estimator::Segment& segment) {
  return std::max<Eigen::Index>(1, std::lround(5e-3 / segment.period));
}

const std::vector<Disturbance>& disturbances() {
  static const std::vector<Disturbance> kAll = {
      {.name = "clean", .kind = "", .words = ""},
      {.name = "late",
       .kind = "late-command",
       .words = "later than recorded",
       .apply =
           [](estimator::Segment& s) {
             const Eigen::Index n = rows_of_delay(s), rows = s.controls.rows();
             s.controls.topRows(rows - n) = s.controls.bottomRows(rows - n).eval();
           }},
      {.name = "early",
       .kind = "early-command",
       .words = "earlier than recorded",
       .apply =
           [](estimator::Segment& s) {
             const Eigen::Index n = rows_of_delay(s), rows = s.controls.rows();
             s.controls.bottomRows(rows - n) = s.controls.topRows(rows - n).eval();
           }},
      {.name = "clock",
       .kind = "clock-rate",
       .words = "clock of the time stamps",
       .apply = [](estimator::Segment& s) { s.period *= 1.01; }},
      {.name = "clipped", .kind = "clipped-command", .words = "is clipped at", .clip = 0.6},
      {.name = "plateau",
       .kind = "clipped-angle",
       .words = "saturates at",
       .apply =
           [](estimator::Segment& s) {
             auto column = s.angles.col(s.angles.cols() - 1);
             column = column.cwiseMin(0.6 * column.maxCoeff());
           }},
      {.name = "disc",
       .kind = "eccentric-disc",
       .words = "",
       .apply =
           [](estimator::Segment& s) {
             for (double& angle : s.angles.reshaped()) angle += 5e-3 * std::sin(angle + 0.4);
           }},
      {.name = "cogging",
       .kind = "cogging",
       .words = "",
       .fault = {.cogging = 0.1, .cogging_order = 12}},
      {.name = "friction-drift",
       .kind = "friction-drift",
       .words = "",
       .fault = {.friction_drift = -0.5}},
      {.name = "gain-drift", .kind = "gain-drift", .words = "", .fault = {.gain_drift = -0.1}},
      {.name = "gain-sag", .kind = "gain-sag", .words = "", .fault = {.gain_sag = 0.15}},
      {.name = "vibration",
       .kind = "vibration",
       .words = "",
       .fault = {.vibration = 1.5, .frequency = 7.3}},
  };
  return kAll;
}

/// Mistakes in the recording, searched for after a calibration.
void run_after(Run& to) {
  for (const std::string& kind : to.kinds) {
    for (int run = 0; run < to.rigs; ++run) {
      for (const Disturbance& each : disturbances()) {
        if (!to.only.empty() && std::ranges::find(to.only, each.name) == to.only.end()) continue;
        RandomRig rig = draw_rig(kind, static_cast<unsigned>(to.seed + run),
                                 {.clip = each.clip, .fault = each.fault});
        if (!rig.driven || (to.described && rig.other_law)) break;
        if (each.apply) each.apply(rig.recording.segments.front());
        const std::clock_t begin = std::clock();
        std::vector<estimator::Finding> findings;
        std::size_t accused = 0;
        try {
          const estimator::Calibration calibration =
              estimator::calibrate_with_diagnostics(rig.mechanism, {rig.recording}, {}).calibration;
          findings = calibration.findings;
          accused = calibration.contradictions.size();
        } catch (const estimator::UnusableInput& refused) {
          findings = refused.findings;
        }
        const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        to.longest = std::max(to.longest, took);
        std::string name = each.name;
        if (name == "clock") {
          const auto excitation = estimator::predict_precision(rig.mechanism, {rig.recording}, {});
          if (!(excitation.clock.deviation < estimator::kDetectableClockDeviation))
            name += " (hidden)";
        }
        Tally& tally = to.tallies[name + " " + kind];
        ++tally.planted;
        const auto names = [&](const estimator::Finding& finding) {
          const service::FindingText text = service::describe_finding(finding);
          return text.kind == each.kind || (!std::string(each.words).empty() &&
                                            text.what.find(each.words) != std::string::npos);
        };
        const bool found = std::ranges::any_of(findings, names);
        const auto first = std::ranges::find(findings, estimator::MessageCode::kMisfitCause,
                                             [](const auto& one) { return one.message.code; });
        const bool is_first = first != findings.end() && names(*first);
        tally.first += is_first ? 1 : 0;
        tally.accused += accused > 0 ? 1 : 0;
        const bool warns = std::ranges::any_of(findings, [](const auto& finding) {
          return finding.severity != estimator::Severity::kNote;
        });
        const bool misfit = std::ranges::any_of(findings, [](const auto& finding) {
          return service::describe_finding(finding).kind == "misfit";
        });
        ++(found    ? tally.found
           : warns  ? tally.other
           : misfit ? tally.unexplained
                    : tally.explained);
        if (!to.verbose) continue;
        std::printf("%s %d law %d noise %.1f mrad %s (%.2f s):\n", kind.c_str(), to.seed + run,
                    rig.other_law, 1e3 * rig.noise, each.name, took);
        print_findings(findings);
      }
    }
  }
}

/// Faults of recordings, searched for before a calibration.
void run_signals(Run& to) {
  using signal_faults::SignalFault;
  std::vector<SignalFault> faults = {{.name = "clean", .kinds = {}}};
  faults.insert(faults.end(), signal_faults::all().begin(), signal_faults::all().end());
  for (const std::string& kind : to.kinds) {
    for (int run = 0; run < to.rigs; ++run) {
      const auto seed = static_cast<unsigned>(to.seed + run);
      const RandomRig rig = draw_rig(kind, seed);
      const double quantum = signal_faults::last_quantum(rig);
      for (const SignalFault& fault : faults) {
        estimator::Recording recording = rig.recording;
        estimator::Segment& segment = recording.segments.front();
        if (fault.apply) fault.apply(segment, signal_faults::lively_row(segment, seed), quantum);
        const std::clock_t begin = std::clock();
        const auto findings = estimator::examine_signals(rig.mechanism, {recording}).findings;
        to.longest =
            std::max(to.longest, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
        const std::string noisy = rig.noise > 0.0 ? " in noise" : "";
        Tally& tally = to.tallies[fault.name + noisy + " " + kind];
        ++tally.planted;
        const bool found = std::ranges::any_of(findings, [&](const auto& finding) {
          return std::ranges::count(fault.kinds, service::describe_finding(finding).kind) > 0;
        });
        const bool alarm = std::ranges::any_of(findings, [&](const auto& finding) {
          return finding.severity != estimator::Severity::kNote;
        });
        ++(found ? tally.found : alarm ? tally.other : tally.missed);
        if (!to.verbose || (found && fault.apply) || (!alarm && !fault.apply)) continue;
        std::printf("%s %u noise %.1f mrad, period %.0f ms, %s:\n", kind.c_str(), seed,
                    1e3 * rig.noise, 1e3 * segment.period, fault.name.c_str());
        print_findings(findings);
      }
    }
  }
}

/// A clean recording, and with each mistake injected into its description.
void run_recording(Run& to, const std::string& rig_file, const std::string& file) {
  const service::Rig rig = service::load_rig(rig_file);
  const std::vector<estimator::Recording> recordings = {
      service::import_csv(file, *rig.format).recording};
  const auto report = [&](const estimator::Mechanism& mechanism,
                          const std::vector<estimator::Recording>& readings, const char* planted) {
    const std::clock_t begin = std::clock();
    const auto findings = estimator::examine_description(mechanism, readings).findings;
    std::printf("%s (%.2f s)\n", planted,
                static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    print_findings(findings);
  };
  report(rig.mechanism, recordings, "as it is");
  for (const estimator::DescriptionHypothesis& each :
       estimator::list_common_description_errors(rig.mechanism, recordings)) {
    if (std::ranges::find(to.only, kind_of(each)) == to.only.end()) continue;
    report(corrected_mechanism(rig.mechanism, each), corrected_recordings(recordings, each),
           text_of(each).c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Mistakes found, not found and falsely seen over random rigs");
  Run run{.kinds = {"pendulum", "double", "furuta", "cartpole"}, .only = {}, .tallies = {}};
  bool after = false, signals = false;
  std::string recording, rig;
  app.add_option("--rigs", run.rigs, "Of each kind")->capture_default_str();
  app.add_option("--seed", run.seed, "Of the first rig")->capture_default_str();
  app.add_option("--kinds", run.kinds, "pendulum, double, furuta, cartpole")->delimiter(',');
  app.add_option("--only", run.only, "Mistakes to plant, by kind; none: clean")->delimiter(',');
  app.add_flag("--verbose", run.verbose, "Report every rig");
  app.add_flag("--after", after,
               "Mistakes in recordings, explained after a calibration; with --signals: faults of "
               "recordings that are examined and calibrated");
  app.add_flag("--signals", signals, "Faults of recordings, looked for before a calibration");
  app.add_flag("--described", run.described, "With --after: rigs whose friction is as described");
  app.add_option("--recording", recording, "A CSV file instead of random rigs");
  app.add_option("--rig", rig, "Its rig file");
  CLI11_PARSE(app, argc, argv);
  if (!recording.empty()) {
    run_recording(run, rig, recording);
    return 0;
  }
  if (signals && after) {
    signal_faults::run_calibrated(
        {run.kinds, run.only, run.rigs, run.seed, run.described, run.verbose});
    return 0;
  }
  if (signals) {
    run_signals(run);
  } else if (after) {
    run_after(run);
  } else {
    run_before(run);
  }
  std::printf("%-30s %8s %8s %8s %12s %10s %10s %8s %8s %8s\n", "mistake and rig", "planted",
              "found", "other", "unexplained", "explained", "unchecked", "missed", "first",
              "accused");
  for (const auto& [name, tally] : run.tallies) {
    std::printf("%-30s %8d %8d %8d %12d %10d %10d %8d %8d %8d\n", name.c_str(), tally.planted,
                tally.found, tally.other, tally.unexplained, tally.explained, tally.unchecked,
                tally.missed, tally.first, tally.accused);
  }
  std::printf("longest: %.2f s of processor time\n", run.longest);
  return 0;
}
