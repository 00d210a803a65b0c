// Estimates during a recording, and recordings that end by --until, on simulated Furuta releases in
// virtual time: how much of the recording the rule saves, how often the 95 % intervals at its end
// contain the true value, and how far the estimates are behind.
//
//   live_coverage --runs 200 --target B.J_yy:0.1%
//
// The runs differ in the angles from which the rig is released. An estimate takes its processor
// time, as on an idle machine with two processors, and includes the samples that arrived before it
// began. Complete calibrations take longer in the time of the recording than they do at a rig,
// because the recording passes faster here.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>
#include <random>

#include "daq/config/scenario_config.hpp"
#include "daq/console/unit_connection.hpp"
#include "daq/console/until_rule.hpp"
#include "firmware_iface/sim/config/sim_config.hpp"
#include "proto/recording/convert.hpp"
#include "proto/text/files.hpp"
#include "service/calibration/live_fit.hpp"
#include "tests/daq/simulated_rig.hpp"

namespace {

namespace sim = firmware_iface::sim;
using rigcal::v1::SampleBatch;

constexpr double kBatch_s = 0.1;
/// Time from a sample to its arrival at the fit: the age of a batch, two disks, two sockets [s].
constexpr double kTransport_s = 0.15;

/// True values of the free parameters of configs/rig-furuta.textproto in configs/sim-furuta.
const std::map<std::string, double> kTruth = {{"A.J_zz", 0.0044},
                                              {"B.J_yy", 0.00396},
                                              {"B.J_zz", 0.0039},
                                              {"1.b", 1e-3},
                                              {"2.b", 1e-4},
                                              {"1.tau_c", 0.004},
                                              {"2.tau_c", 9e-4},
                                              {"gravity.tilt_x", 0.006},
                                              {"gravity.tilt_z", -0.004}};

const std::string kConfigs = "configs/";

struct Input {
  daq::RigConfig rig;
  daq::ScenarioConfig scenario;
  std::string rig_text;
};

/// Returns the messages of a run in batches, by their time of arrival.
std::vector<SampleBatch> record(const Input& input, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> tilt(0.02, 0.06), turn(-1.0, 1.0);
  sim::SimConfig config = sim::load_sim_config(kConfigs + "sim-furuta.textproto", {.seed = seed});
  config.start.angle_rad[0] = turn(random);
  config.start.angle_rad[1] = M_PI - tilt(random);
  daq::LoopSettings settings = daq::furuta_settings();
  settings.drive = false;
  settings.joint_count = input.rig.channel.size();
  settings.channel = daq::compute_channel_scales(input.rig);
  daq::SimulatedRig unit(input.scenario.scenario, settings, config.settings, input.scenario.limits,
                         nullptr, config.make_plant());
  unit.run();
  unit.finish();
  std::vector<SampleBatch> batches;
  const auto batch_at = [&](double time_s) -> SampleBatch& {
    const auto index = static_cast<std::size_t>(std::max(time_s, 0.0) / kBatch_s);
    if (index >= batches.size()) batches.resize(index + 1);
    return batches[index];
  };
  for (const auto& sample : unit.sink().samples) {
    proto::to_message(sample, *batch_at(sample.timestamp_s).add_samples());
  }
  for (const auto& event : unit.sink().events) {
    proto::to_message(event, *batch_at(event.timestamp_s).add_events());
  }
  for (const auto& fit : unit.sink().clock_fits) {
    proto::to_message(fit, *batch_at(fit.timestamp_s).add_clock_fits());
  }
  return batches;
}

proto::LiveEstimate to_plain(const rigcal::v1::LiveEstimate& message) {
  proto::LiveEstimate estimate{
      message.through_s(), message.is_model_accepted(), {}, message.problem()};
  for (const auto& item : message.parameters()) {
    estimate.parameters.push_back({item.name(), item.unit(), item.value(), item.half_width()});
  }
  return estimate;
}

double thread_time_s() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Counts {
  int total = 0, covered = 0;
  void add(double error, double half_width) {
    if (!std::isfinite(half_width)) return;
    ++total;
    covered += std::abs(error) <= half_width ? 1 : 0;
  }
};

struct Totals {
  Counts target, all, along;              // at the end by the rule; at every estimate
  std::map<std::string, Counts> by_name;  // at the end by the rule
  int runs = 0, ended = 0, estimates = 0;
  bool is_verbose = false;
  int far_from_final = 0, compared = 0;  // later than 5 s, beyond 3 standard deviations
  double saved_s = 0.0, of_s = 0.0, lag_max_s = 0.0;
};

/// Follows one run. @param whole  continue after the rule is met, to compare with the final
void follow(const std::vector<SampleBatch>& batches, const Input& input,
            const proto::LiveTarget& target, bool whole, Totals& totals) {
  rigcal::v1::LiveRequest request;
  request.set_rig_name("rig.textproto");
  request.set_rig_text(input.rig_text);
  proto::RecordingHeader names;
  for (const daq::ChannelConfig& channel : input.rig.channel) names.joints.push_back(channel.joint);
  for (const daq::MotorConfig& motor : input.rig.motor) {
    names.motors.push_back(motor.joint);
    names.command_units.push_back(motor.command_unit);
  }
  service::LiveFit fit(request, names);
  daq::UntilRule rule({target});
  double release_s = 0.0, free_s = 0.0, end_s = -1.0;
  std::vector<std::pair<double, rigcal::v1::LiveEstimate>> estimates;  // by time after the release
  double shown_through_s = -1.0;
  for (std::size_t k = 0; k < batches.size(); ++k) {
    fit.add(batches[k]);
    const double now_s = static_cast<double>(k + 1) * kBatch_s;  // on the recording's clock
    for (const auto& event : batches[k].events()) {
      if (event.name() == "running") release_s = event.timestamp();
    }
    if (!fit.is_due() || now_s < free_s) continue;
    const double begin_s = thread_time_s();
    const rigcal::v1::LiveEstimate estimate = fit.estimate();
    const double took_s = thread_time_s() - begin_s;
    free_s = now_s + took_s;
    if (totals.is_verbose) {
      std::printf("%6.2f s: %.3f s, %s%s\n", now_s - release_s, took_s,
                  estimate.is_model_accepted() ? "accepted" : "not accepted",
                  estimate.problem().empty() ? "" : (", " + estimate.problem()).c_str());
      for (const auto& parameter : estimate.parameters()) {
        std::printf("    %-16s %12.6g ± %.2g\n", parameter.name().c_str(), parameter.value(),
                    parameter.half_width());
      }
      std::fflush(stdout);
    }
    if (!estimate.problem().empty()) continue;
    ++totals.estimates;
    const double arrival_s = now_s + took_s + kTransport_s;
    // Until this estimate arrives, the previous one is shown.
    if (shown_through_s >= 0.0 && now_s - release_s > 5.0) {
      totals.lag_max_s = std::max(totals.lag_max_s, arrival_s - shown_through_s);
    }
    shown_through_s = estimate.through_s();
    for (const auto& parameter : estimate.parameters()) {
      const auto truth = kTruth.find(parameter.name());
      if (truth == kTruth.end()) continue;
      totals.along.add(parameter.value() - truth->second, parameter.half_width());
    }
    estimates.emplace_back(estimate.through_s() - release_s, estimate);
    rule.add(to_plain(estimate));
    if (rule.is_met() && end_s < 0.0) {
      end_s = arrival_s;
      for (const auto& parameter : estimate.parameters()) {
        const auto truth = kTruth.find(parameter.name());
        if (truth == kTruth.end()) continue;
        const double error = parameter.value() - truth->second;
        totals.all.add(error, parameter.half_width());
        totals.by_name[parameter.name()].add(error, parameter.half_width());
        if (parameter.name() == target.parameter) totals.target.add(error, parameter.half_width());
      }
      if (!whole) break;
    }
  }
  ++totals.runs;
  const double whole_s = static_cast<double>(batches.size()) * kBatch_s - release_s;
  totals.of_s += whole_s;
  if (end_s >= 0.0) {
    ++totals.ended;
    totals.saved_s += whole_s - (end_s - release_s);
  }
  if (!whole || estimates.empty()) return;
  const rigcal::v1::LiveEstimate& last = estimates.back().second;
  for (const auto& [time_s, estimate] : estimates) {
    if (time_s < 5.0 || estimate.parameters_size() != last.parameters_size()) continue;
    for (int i = 0; i < last.parameters_size(); ++i) {
      const double deviation = estimate.parameters(i).half_width() / 1.96;
      if (!std::isfinite(deviation)) continue;
      ++totals.compared;
      const double distance = std::abs(estimate.parameters(i).value() - last.parameters(i).value());
      totals.far_from_final += distance > 3.0 * deviation ? 1 : 0;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Coverage of estimates during recordings", "live_coverage");
  int runs = 20, first = 1;
  Totals totals;
  bool whole = false;
  std::string target = "B.J_yy:0.1%";
  app.add_option("--runs", runs, "number of runs");
  app.add_option("--first", first, "seed of the first run");
  app.add_option("--target", target, "precision at which a run ends, NAME:PRECISION");
  app.add_flag("--whole", whole, "follow each run to its end, and compare with its last estimate");
  app.add_flag("--verbose", totals.is_verbose, "print each estimate");
  CLI11_PARSE(app, argc, argv);
  const daq::RigConfig rig = daq::load_rig_config(kConfigs + "rig-furuta.textproto");
  const Input input{rig, daq::load_scenario_config(kConfigs + "scenario-release.textproto", rig),
                    proto::read_file(kConfigs + "rig-furuta.textproto")};
  const proto::LiveTarget wanted = daq::parse_live_target(target);
  const auto print = [](const char* name, const Counts& counts) {
    std::printf("%-28s %d of %d (%.1f %%)\n", name, counts.covered, counts.total,
                100.0 * counts.covered / std::max(counts.total, 1));
  };
  for (int k = 0; k < runs; ++k) {
    follow(record(input, static_cast<std::uint64_t>(first + k)), input, wanted, whole, totals);
    if ((k + 1) % 5 == 0 || k + 1 == runs) {
      std::printf("\n%d runs: %d ended by the rule, %.1f %% of the time saved, %d estimates\n",
                  totals.runs, totals.ended, 100.0 * totals.saved_s / totals.of_s,
                  totals.estimates);
      print("target at the end", totals.target);
      print("all parameters at the end", totals.all);
      print("all estimates along the way", totals.along);
      std::printf("longest time behind after 5 s: %.2f s\n", totals.lag_max_s);
      if (whole) {
        std::printf("beyond 3 standard deviations of the final after 5 s: %d of %d\n",
                    totals.far_from_final, totals.compared);
      }
      std::fflush(stdout);
    }
  }
  for (const auto& [name, counts] : totals.by_name) print(name.c_str(), counts);
}
