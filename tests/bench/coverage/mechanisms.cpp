// Coverage of 95 % intervals over random pendulums, double pendulums, Furuta pendulums and
// cart-poles, with random friction laws, lengths, excitations and encoder disc phases. Also the
// coverage and the verdict if the description has another law or length.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "estimator/assessment/model_test/verdict.hpp"
#include "estimator/calibrate/calibrate.hpp"
#include "estimator/diagnostics/repair/diagnosed_calibration.hpp"
#include "service/messages/message_text.hpp"
#include "tests/bench/rigs/random_rigs.hpp"

namespace {

using random_rigs::Law;
using random_rigs::RandomRig;

const std::map<std::string, Law> kLaws = {{"viscous", Law::kViscous},
                                          {"dry", Law::kDry},
                                          {"drag", Law::kDrag},
                                          {"stribeck", Law::kStribeck}};

struct Run {
  std::vector<std::string> kinds, laws;
  std::string described;
  double longer = 0.0;
  int runs = 100;
  unsigned seed = 1;
  bool lists = false, prescribed = false, coarse = false;
};

struct Tally {
  int count = 0, covered = 0, by_noise = 0;
  double squares = 0.0;  ///< of errors over reported standard deviations
};

/// Results for whole rigs.
struct Verdicts {
  int rigs = 0, reported = 0, doubtful = 0, inside = 0, either = 0, unconverged = 0, unrefined = 0;
};

/// Friction has other terms in another law, which replace each other.
bool means_the_same(const std::string& name, const Run& run) {
  const std::string quantity = name.substr(name.find('.') + 1);
  if (run.described.empty()) return true;
  return quantity != "b" && quantity != "tau_c" && quantity != "f_c" && quantity != "c";
}

std::string class_of(const std::string& name) {
  const std::string quantity = name.substr(name.find('.') + 1);
  if (quantity.starts_with("J_")) return "J";
  if (quantity.starts_with("tilt")) return "tilt";
  if (quantity == "f_c") return "tau_c";
  if (quantity == "f_delta") return "tau_delta";
  return quantity;
}

std::string length_class(double duration) {
  return duration < 6.0 ? "3 to 6 s" : duration < 12.0 ? "6 to 12 s" : "12 to 20 s";
}

void lengthen(estimator::Mechanism& mechanism, double share) {
  const int carried = mechanism.joint_count() - 1;
  mechanism.joint_parameter(carried, estimator::JointParameter::kPointAx).value *= 1.0 + share;
}

class Bench {
 public:
  explicit Bench(const Run& run) : run_(run) {}

  void calibrate(const std::string& kind, const std::string& law, unsigned seed) {
    random_rigs::RigChoice choice{.shortest = 3.0,
                                  .counts_only = true,
                                  .law = kLaws.at(law),
                                  .prescribed = run_.prescribed,
                                  .coarse = run_.coarse};
    if (!run_.described.empty()) choice.described = kLaws.at(run_.described);
    RandomRig rig = random_rigs::draw_rig(kind, seed, choice);
    lengthen(rig.mechanism, run_.longer);
    const std::string how = kind + (rig.driven ? " driven" : " released");
    estimator::Calibration result;
    try {
      result =
          estimator::calibrate_with_diagnostics(rig.mechanism, {rig.recording}, {}).calibration;
    } catch (const estimator::UnusableInput& refused) {
      result.verdict = {estimator::VerdictKind::kNoFit,
                        {estimator::Message(std::string(refused.what()))}};
    }
    const bool reported = result.verdict.kind >= estimator::VerdictKind::kApproximate;
    bool inside = true;
    if (result.converged()) {
      for (const estimator::ParameterEstimate& estimate : result.parameters) {
        if (!means_the_same(estimate.name, run_) || !rig.truths.contains(estimate.name)) continue;
        const double error = estimate.value - rig.truths.at(estimate.name);
        const bool covered = std::abs(error) <= estimate.half_interval;
        inside = inside && covered;
        for (const std::string& name :
             {std::string("all"), how, "law " + law, class_of(estimate.name),
              length_class(rig.recording.segments[0].duration()),
              std::string("with ") + (result.refined ? "simulation fit" : "states alone")}) {
          add(tallies_[name], error, covered, estimate);
        }
        if (run_.lists) list(rig, law, seed, estimate, error, result);
      }
    }
    if (run_.lists)
      std::printf("# %s %u: %s\n", kind.c_str(), seed,
                  service::format_verdict(result.verdict).c_str());
    for (Verdicts* verdicts : {&verdicts_["all"], &verdicts_[how + " " + law]}) {
      ++verdicts->rigs;
      verdicts->unconverged += result.converged() ? 0 : 1;
      verdicts->unrefined += result.refined ? 0 : 1;
      verdicts->reported += reported ? 1 : 0;
      verdicts->doubtful += result.verdict.kind == estimator::VerdictKind::kDoubtful ? 1 : 0;
      verdicts->inside += inside ? 1 : 0;
      verdicts->either += reported || inside ? 1 : 0;
    }
  }

  void print() const {
    std::printf("%-26s %9s %9s %9s %9s\n", "of", "estimates", "covered", "by noise", "scatter");
    for (const auto& [name, tally] : tallies_) {
      std::printf("%-26s %9d %7.1f %% %7.1f %% %9.3f\n", name.c_str(), tally.count,
                  100.0 * tally.covered / tally.count, 100.0 * tally.by_noise / tally.count,
                  std::sqrt(tally.squares / tally.count));
    }
    std::printf("\n%-26s %6s %6s %9s %7s %7s %12s %12s\n", "of", "rigs", "rejected", "doubtful",
                "inside", "either", "unconverged", "states alone");
    for (const auto& [name, of] : verdicts_) {
      std::printf("%-26s %6d %6d %9d %7d %7d %12d %12d\n", name.c_str(), of.rigs, of.reported,
                  of.doubtful, of.inside, of.either, of.unconverged, of.unrefined);
    }
  }

 private:
  static void add(Tally& tally, double error, bool covered,
                  const estimator::ParameterEstimate& estimate) {
    ++tally.count;
    tally.covered += covered ? 1 : 0;
    const double noise = estimate.noise_deviation * estimator::kNormalHalfWidth95;
    tally.by_noise += std::abs(error) <= (noise > 0.0 ? noise : estimate.half_interval) ? 1 : 0;
    if (estimate.standard_deviation > 0.0) {
      tally.squares += std::pow(error / estimate.standard_deviation, 2);
    }
  }

  static void list(const RandomRig& rig, const std::string& law, unsigned seed,
                   const estimator::ParameterEstimate& estimate, double error,
                   const estimator::Calibration& result) {
    const double duration = rig.recording.segments[0].duration();
    std::printf("%s %u %s %s %.1f %g %s %.4g %.3g %.3g %d %s %s\n", rig.kind.c_str(), seed,
                law.c_str(), rig.driven ? "driven" : "released", duration,
                rig.recording.segments[0].period, estimate.name.c_str(), estimate.value,
                error / estimate.standard_deviation, error / estimate.half_interval,
                estimate.at_bound ? 1 : 0, result.refined ? "simulation" : "states",
                std::string(estimator::to_string(result.verdict.kind)).c_str());
    std::fflush(stdout);
  }

  const Run& run_;
  std::map<std::string, Tally> tallies_;
  std::map<std::string, Verdicts> verdicts_;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Coverage of reported intervals over random mechanisms, counts alone");
  Run run{.kinds = {"pendulum", "double", "cartpole", "furuta"},
          .laws = {"viscous", "dry", "drag", "stribeck"},
          .described = {}};
  app.add_option("--kinds", run.kinds, "pendulum, double, furuta, cartpole")->delimiter(',');
  app.add_option("--laws", run.laws, "Of friction: viscous, dry, drag, stribeck")->delimiter(',');
  app.add_option("--described", run.described, "The law of the description; none: the rig's");
  app.add_option("--longer", run.longer, "Share by which the description's first link is too long");
  app.add_option("--runs", run.runs, "Rigs of each kind")->capture_default_str();
  app.add_option("--seed", run.seed, "Of the first rig")->capture_default_str();
  app.add_flag("--list", run.lists, "One line an estimate");
  app.add_flag("--prescribed", run.prescribed,
               "Prescribe the recorded motion of the first joint, whose force is then unknown");
  app.add_flag("--coarse", run.coarse,
               "Give the first joint an encoder of 200 counts per turn, or of 1 mm");
  CLI11_PARSE(app, argc, argv);
  Bench bench(run);
  for (int k = 0; k < run.runs; ++k) {
    for (const std::string& kind : run.kinds) {
      const std::string& law = run.laws[static_cast<std::size_t>(k) % run.laws.size()];
      bench.calibrate(kind, law, run.seed + static_cast<unsigned>(k));
      std::fprintf(stderr, "\r%d %s", k + 1, kind.c_str());
    }
  }
  std::fprintf(stderr, "\n");
  bench.print();
  return 0;
}
