// Coverage of 95 % intervals over seeded realizations of the encoders' errors, on the clean
// recordings of the evaluation data, which an independent simulator made. Takes minutes.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/model/encoder.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/recordings/recording_selection.hpp"
#include "service/rig/parameters/parameter_edits.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/support/evaluation_data.hpp"
#include "tests/support/evaluation_truth.hpp"
#include "tests/support/import_csv.hpp"
#include "tests/support/source_folder.hpp"

namespace {

using namespace test_support;

constexpr double kNoise = 1e-3;                   // [rad]
constexpr double kQuantum = 2.0 * M_PI / 4096.0;  // [rad]

struct Case {
  std::string rig, recording;  // the recording in the evaluation data
  double duration;             // [s]
  std::vector<std::string> fixed;
  std::map<std::string, double> truth;  // empty: from the evaluation data
  double transition_speed = 0.0;  // of every joint, as in the recording's simulator [rad/s or m/s]
};

const std::map<std::string, Case>& cases() {
  static const std::map<std::string, Case> kCases = {
      {"pendulum",
       {.rig = "rig-synthetic-pendulum.textproto",
        .recording = "synthetic/pend_paper_release__clean.csv",
        .duration = 25.0,
        .fixed = {},
        .truth = {{"pendulum.J_zz", 0.0039},
                  {"pivot.b", 2e-4},
                  {"pivot.tau_c", 0.006},
                  {"pivot.tau_delta", 0.002},
                  {"pivot.zeta", 4.0}}}},
      {"furuta",
       {.rig = "rig-synthetic-furuta.textproto",
        .recording = "synthetic/furuta_paper_release__clean.csv",
        .duration = 15.0,
        .fixed = {"1.K"},
        .truth = {{"A.J_zz", 0.0044},
                  {"B.J_yy", 0.00396},
                  {"B.J_zz", 0.0039},
                  {"1.b", 1e-3},
                  {"2.b", 1e-4},
                  {"1.tau_c", 0.004},
                  {"2.tau_c", 9e-4},
                  {"gravity.tilt_x", 0.006},
                  {"gravity.tilt_z", -0.004}}}},
      {"cartpole",
       {.rig = "rig-cartpole.textproto",
        .recording = "synthetic_planar/cartpole_base__clean.csv",
        .duration = 15.0,
        .fixed = {},
        .truth = {},
        .transition_speed = 1e-3}},
      {"fourbar",
       {.rig = "rig-fourbar.textproto",
        .recording = "synthetic_planar/fourbar_base__clean.csv",
        .duration = 5.0,
        .fixed = {},
        .truth = {},
        .transition_speed = 1e-3}}};
  return kCases;
}

/// Returns the true parameters of a case. The rig file of the cart-pole has no back-EMF, so rail.b
/// includes it: b + K k_e.
std::map<std::string, double> truth_of(const std::string& name, const std::filesystem::path& data) {
  std::map<std::string, double> truth = cases().at(name).truth;
  if (truth.empty()) truth = true_parameters(data, name + "_base");
  if (name == "cartpole") truth["rail.b"] += truth["rail.K"] * truth["rail.k_e"];
  return truth;
}

/// Adds white noise, or quantizes with a random phase of the encoder disc.
void disturb(const std::vector<estimator::Encoder>& sensors, bool counts,
             estimator::Recording& recording, std::mt19937_64& random) {
  std::normal_distribution<double> normal(0.0, kNoise);
  std::uniform_real_distribution<double> uniform(-0.5, 0.5);
  for (estimator::Segment& segment : recording.segments) {
    for (Eigen::Index i = 0; i < segment.angles.cols(); ++i) {
      const double unit = sensors[static_cast<std::size_t>(i)].units().scale;
      const double phase = uniform(random), quantum = kQuantum * unit;
      for (double& angle : segment.angles.col(i)) {
        angle = counts ? (std::round(angle / quantum + phase) - phase) * quantum
                       : angle + unit * normal(random);
      }
    }
  }
}

struct Tally {
  int covered = 0;
  double deviations = 0.0, squares = 0.0;  // in units of the reported standard deviation
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Coverage of reported intervals over realisations of the encoders' errors");
  std::string name = "pendulum", errors = "noise";
  int runs = 500, seed = 1;
  app.add_option("case", name, "pendulum, furuta, cartpole or fourbar")
      ->check(CLI::IsMember({"pendulum", "furuta", "cartpole", "fourbar"}));
  app.add_option("errors", errors, "noise (1 mrad) or counts (4096 a turn)")
      ->check(CLI::IsMember({"noise", "counts"}));
  app.add_option("--runs", runs, "Realisations")->capture_default_str();
  app.add_option("--seed", seed, "Of the first realisation")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const auto data = find_evaluation_data();
  if (!data) {
    std::fprintf(stderr, "coverage: no evaluation data; set RIG_DATA\n");
    return 1;
  }
  const Case& chosen = cases().at(name);
  const std::map<std::string, double> truths = truth_of(name, *data);
  service::Rig rig = service::load_rig(source_folder() + "/configs/" + chosen.rig);
  service::ParameterEdits edits;
  edits.fix = chosen.fixed;
  service::apply_parameter_edits(edits, rig.mechanism);
  for (estimator::Joint& joint : rig.mechanism.joints)
    joint.transition_speed = chosen.transition_speed;
  auto imported = service::import_csv((*data / chosen.recording).string(), *rig.format);
  service::RecordingSelection selection;
  selection.to = chosen.duration;
  service::keep_selected_part(selection, imported);

  const std::vector<estimator::Encoder> sensors = estimator::used_encoders(rig.mechanism);
  std::map<std::string, Tally> tallies;
  int unconverged = 0;
  for (int run = 0; run < runs; ++run) {
    std::mt19937_64 random(static_cast<unsigned>(seed + run));
    estimator::Recording recording = imported.recording;
    disturb(sensors, errors == "counts", recording, random);
    const auto result = estimator::calibrate(rig.mechanism, {recording});
    unconverged += result.converged() ? 0 : 1;
    for (const estimator::ParameterEstimate& estimate : result.parameters) {
      const auto truth = truths.find(estimate.name);
      const double error = estimate.value - (truth == truths.end() ? 0.0 : truth->second);
      const double deviation = error / estimate.standard_deviation;
      Tally& tally = tallies[estimate.name];
      tally.covered += std::abs(error) < estimate.half_interval ? 1 : 0;
      tally.deviations += deviation;
      tally.squares += deviation * deviation;
    }
    std::fprintf(stderr, "\r%d of %d", run + 1, runs);
  }
  std::fprintf(stderr, "\n");
  std::printf("%s, %s: %d realisations, %d not converged\n", name.c_str(), errors.c_str(), runs,
              unconverged);
  std::printf("  %-16s %9s %9s %9s\n", "parameter", "covered", "scatter", "mean");
  for (const auto& [parameter, tally] : tallies) {
    std::printf("  %-16s %7.1f %% %9.3f %9.3f\n", parameter.c_str(), 100.0 * tally.covered / runs,
                std::sqrt(tally.squares / runs), tally.deviations / runs);
  }
  return 0;
}
