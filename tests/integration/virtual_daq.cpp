#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "daq/config/scenario_config.hpp"
#include "daq/console/exit_code.hpp"
#include "daq/console/recording_sink.hpp"
#include "daq/console/unit_connection.hpp"
#include "firmware_iface/sim/config/sim_config.hpp"
#include "tests/daq/simulated_rig.hpp"

// The part of `rigcal-daq run` that `rigcal identify` uses, on a simulated unit in virtual time:
//
//   virtual_daq run --rig RIG --scenario SCENARIO --out RECORDING --url SIMULATION
//   virtual_daq commission --check ...    (does nothing)
//
// The URL is a simulation file (proto/sim.proto). The joints start where the last run ended, which
// the file SIMULATION.state contains. The program prints "VIOLATION" if the true motion exceeded a
// limit before a trip, or if the output was on after it.

namespace {

namespace sim = firmware_iface::sim;

constexpr auto kRestAfterRun = std::chrono::seconds(20);
constexpr double kSamplePeriod_s = 1e-3;
constexpr std::uint64_t kTicksToSwitchOff = 5;  // from the tripping sample to the unit's output
constexpr int kViolation = 70;

/// Returns the first violation of a safety promise by the true motion; empty if there is none.
std::string find_violation(const daq::SimulatedRig& rig, const daq::SafetyLimits& limits,
                           const daq::Trip* trip, double start_s) {
  for (const auto& [sequence, truth] : rig.truth()) {
    const double time_s = static_cast<double>(sequence) * kSamplePeriod_s;
    const bool has_tripped = trip != nullptr && time_s >= start_s + trip->time_s;
    if (has_tripped) {
      const bool is_off = truth.command[0] == 0.0 ||
                          time_s < start_s + trip->time_s + kTicksToSwitchOff * kSamplePeriod_s;
      if (!is_off) return "the output was on after the trip";
      continue;
    }
    for (std::size_t j = 0; j < limits.joint.size(); ++j) {
      const daq::JointLimits& limit = limits.joint[j];
      // Until the sample that trips, the joint may move on for one sample.
      const double slack = 1e-3 + 2.0 * kSamplePeriod_s * std::abs(truth.state.speed_rad_s[j]) +
                           std::abs(limits.motion.empty() ? 0.0 : limits.motion[j].rad_per_count);
      const double angle = truth.state.angle_rad[j];
      if (angle < limit.angle_rad_min - slack || angle > limit.angle_rad_max + slack) {
        return limit.joint + " was at " + std::to_string(angle) + " rad without a trip";
      }
    }
  }
  return "";
}

int run(std::map<std::string, std::string> option) {
  const daq::RigConfig rig = daq::load_rig_config(option["--rig"]);
  const daq::ScenarioConfig scenario = daq::load_scenario_config(option["--scenario"], rig);
  sim::SimConfig config = sim::load_sim_config(option["--url"]);
  const std::string state_path = option["--url"] + ".state";
  std::ifstream last_state(state_path);
  for (double& angle : config.start.angle_rad) last_state >> angle;
  if (!last_state) config.start = sim::load_sim_config(option["--url"]).start;

  daq::LoopSettings settings = daq::furuta_settings();
  settings.drive = scenario.scenario.command_peak() > 0.0;
  settings.joint_count = rig.channel.size();
  settings.channel = daq::compute_channel_scales(rig);

  proto::RecordingHeader header;
  for (const daq::ChannelConfig& channel : rig.channel) header.joints.push_back(channel.joint);
  for (const daq::MotorConfig& motor : rig.motor) {
    header.motors.push_back(motor.joint);
    header.command_units.push_back(motor.command_unit);
  }
  auto writer = proto::RecordingWriter::create(option["--out"], header);
  if (!writer.ok()) {
    std::fprintf(stderr, "%s\n", writer.error().detail.c_str());
    return static_cast<int>(daq::ExitCode::kTrouble);
  }
  daq::RecordingSink sink(std::move(writer.value()));
  daq::SimulatedRig unit(scenario.scenario, settings, config.settings, scenario.limits, &sink,
                         config.make_plant());
  unit.keep_truth();
  unit.run();
  const daq::Trip* const trip = unit.loop().trip();
  if (trip != nullptr) {
    std::printf("Tripped: %s\n", daq::describe_trip(*trip, scenario.limits).c_str());
  }
  unit.finish();
  // Times of a run count from its first sample.
  const double start_s = unit.truth().empty()
                             ? 0.0
                             : static_cast<double>(unit.truth().begin()->first) * kSamplePeriod_s;
  const std::string violation = find_violation(unit, scenario.limits, trip, start_s);
  if (!sink.finish().ok()) return static_cast<int>(daq::ExitCode::kTrouble);

  unit.abandon(kRestAfterRun);
  std::ofstream state(state_path);
  const sim::UnitPlant& plant = unit.sim_unit().plant();
  for (std::size_t k = 0; k < static_cast<std::size_t>(plant.joint_count()); ++k) {
    state << plant.state().angle_rad[k] << ' ';
  }
  if (!violation.empty()) {
    std::printf("VIOLATION: %s\n", violation.c_str());
    return kViolation;
  }
  return static_cast<int>(trip == nullptr ? daq::ExitCode::kDone : daq::ExitCode::kTripped);
}

}  // namespace

int main(int argc, char** argv) {
  // A simulated rig needs no commissioning.
  if (argc > 1 && std::string(argv[1]) == "commission") return 0;
  std::map<std::string, std::string> option;
  for (int k = 2; k + 1 < argc; k += 2) option[argv[k]] = argv[k + 1];
  try {
    return run(option);
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "virtual_daq: %s\n", fault.what());
    return static_cast<int>(daq::ExitCode::kBadInput);
  }
}
