// How often mistakes in the description of a rig are found, over random rigs. Takes minutes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "estimator/doctor/description_faults.hpp"
#include "estimator/doctor/excerpt.hpp"
#include "tests/bench/mistakes/random_rigs.hpp"

namespace {

using namespace mistakes;

/// What a finding has to say of a mistake that was planted by applying the remedy of another.
std::string opposite(const std::vector<estimator::Hypothesis>& all, std::size_t planted) {
  const estimator::Hypothesis& own = all[planted];
  if (own.kind != "wrong-unit" && own.kind != "absolute-angle" && own.kind != "relative-angle") {
    return own.mistake;
  }
  // These stand in pairs that undo each other.
  std::size_t first = planted;
  while (first > 0 && all[first - 1].channel == own.channel && all[first - 1].kind == own.kind) {
    --first;
  }
  if (own.kind == "absolute-angle") return all[planted + 1].mistake;
  if (own.kind == "relative-angle") return all[planted - 1].mistake;
  return all[first + ((planted - first) ^ 1U)].mistake;
}

struct Tally {
  int planted = 0, found = 0, other = 0, unexplained = 0, explained = 0, missed = 0;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Mistakes found, not found and falsely seen over random rigs");
  int rigs = 5, seed = 1;
  bool verbose = false;
  std::vector<std::string> kinds = {"pendulum", "double", "furuta", "cartpole"}, only;
  app.add_option("--rigs", rigs, "Of each kind")->capture_default_str();
  app.add_option("--seed", seed, "Of the first rig")->capture_default_str();
  app.add_option("--kinds", kinds, "pendulum, double, furuta, cartpole")->delimiter(',');
  app.add_option("--only", only, "Mistakes to plant, by kind; none: clean")->delimiter(',');
  app.add_flag("--verbose", verbose, "Tell of every rig");
  CLI11_PARSE(app, argc, argv);
  std::map<std::string, Tally> tallies;
  double longest = 0.0;
  for (const std::string& kind : kinds) {
    for (int run = 0; run < rigs; ++run) {
      const RandomRig rig = draw_rig(kind, static_cast<unsigned>(seed + run));
      const std::string name = kind + " " + std::to_string(seed + run);
      const std::vector<estimator::Hypothesis> all = estimator::likely_mistakes(rig.mechanism);
      for (std::size_t i = 0; i <= all.size(); ++i) {
        const bool clean = i == all.size();
        if (!clean && all[i].kind == "shifted-zero") continue;
        if (!clean && std::ranges::find(only, all[i].kind) == only.end()) continue;
        const auto described = clean ? rig.mechanism : mended(rig.mechanism, all[i]);
        const std::vector<estimator::Recording> readings =
            clean ? std::vector{rig.recording} : mended({rig.recording}, all[i]);
        const std::clock_t begin = std::clock();
        const auto findings = estimator::find_description_faults(described, readings);
        const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        longest = std::max(longest, took);
        Tally& tally = tallies[clean ? "clean " + kind : all[i].kind + " " + kind];
        ++tally.planted;
        const std::string wanted = clean ? "" : opposite(all, i);
        std::string verdict = "missed";
        for (const auto& finding : findings) {
          if (finding.kind == "unexplained") {
            if (verdict == "missed") verdict = "unexplained";
          } else if (!clean && finding.what.find(wanted) != std::string::npos) {
            verdict = "found";
          } else if (verdict != "found") {
            verdict = "other";
          }
        }
        if (verdict == "missed") {
          const auto trials = estimator::try_mistakes(
              described, estimator::take_excerpts(described, readings, {}), {});
          if (trials.trials.empty()) verdict = "explained";
        }
        ++(verdict == "found"         ? tally.found
           : verdict == "other"       ? tally.other
           : verdict == "unexplained" ? tally.unexplained
           : verdict == "explained"   ? tally.explained
                                      : tally.missed);
        if (verbose && verdict != (clean ? "explained" : "found")) {
          std::printf("%s driven %d law %d noise %.1f mrad %s (%.2f s): %s\n", name.c_str(),
                      rig.driven, rig.other_law, 1e3 * rig.noise,
                      clean ? "clean" : wanted.c_str(), took, verdict.c_str());
          for (const auto& finding : findings) std::printf("      %s\n", finding.what.c_str());
          std::fflush(stdout);
        }
      }
    }
  }
  std::printf("%-30s %8s %8s %8s %12s %10s %8s\n", "mistake and rig", "planted", "found", "other",
              "unexplained", "explained", "missed");
  for (const auto& [name, tally] : tallies) {
    std::printf("%-30s %8d %8d %8d %12d %10d %8d\n", name.c_str(), tally.planted, tally.found,
                tally.other, tally.unexplained, tally.explained, tally.missed);
  }
  std::printf("longest check: %.2f s of processor time\n", longest);
  return 0;
}
