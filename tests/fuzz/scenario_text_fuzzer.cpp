// Feeds arbitrary text to the readers of a scenario file: the DAQ and the service. Either refuses
// it in one sentence that names the file, or it can be run: whatever it commands at any angles, the
// safety monitor's output is finite and within the limits, which are the rig's or tighter.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "daq/config/scenario_config.hpp"
#include "daq/safety/safety_limits.hpp"
#include "proto/scenario.pb.h"
#include "proto/text/text_file.hpp"
#include "service/simulation/scenario.hpp"
#include "tests/fuzz/refusal.hpp"
#include "tests/fuzz/silent_protobuf.hpp"

namespace {

using fuzz::require;

// In a folder that does not exist, so that a replay finds no file beside it. A refusal names the
// scenario's file, or the requested one.
constexpr const char* kPath = "/no-such-folder/scenario.textproto";
constexpr const char* kNamed = "/";

constexpr const char* kRig = R"(
  name: "furuta"
  body { name: "A" mass { value: 0.2 }
         inertia { xx { value: 0.01 } yy { value: 0.01 } zz { value: 0.01 } } }
  body { name: "B" mass { value: 0.4 }
         inertia { xx { value: 0.01 } yy { value: 0.01 } zz { value: 0.01 } } }
  joint { name: "1" parent { body: "ground" axis { y: 1 } zero_direction { x: 1 } }
          child { body: "A" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
          motor { control_unit: "V" control_max: 10 gain { value: 0.05 } }
          encoder { counts_per_turn: 4096 } }
  joint { name: "2" parent { body: "A" point { x { value: 0.2 } } axis { x: 1 }
                             zero_direction { y: 1 } }
          child { body: "B" point { x { value: -0.1 } } axis { y: 1 } zero_direction { x: 1 } }
          encoder { counts_per_turn: 4096 } }
  unit { url: "sim:furuta" channel { joint: "1" } channel { joint: "2" } }
  safety { command_max: 8 joint { joint: "1" angle_rad_min: -3 angle_rad_max: 3
                                  speed_rad_per_s_max: 30 }
           joint { joint: "2" angle_rad_min: -100 angle_rad_max: 100 speed_rad_per_s_max: 60 } }
)";

// Times and angles at which a scenario is evaluated: a joint that is held, falls, and turns over.
void drive(daq::ScenarioConfig& config) {
  daq::SafetyMonitor monitor(config.limits);
  daq::Observation now;
  for (int k = 0; k < 64; ++k) {
    now.time_s = 1e-3 * k * (1 + k / 16);
    for (daq::JointState& joint : now.joint) {
      joint = {.angle_rad = 0.02 * k, .speed_rad_per_s = k < 32 ? 0.0 : 3.0, .valid = k % 9 != 0};
    }
    daq::MotorCommands asked{};
    config.scenario.compute_command(now, asked);
    require(std::abs(monitor.limit_commands(now, asked)[0]) <=
            config.limits.motor.at(0).command_max);
  }
}

void check_daq(const std::string& text) {
  static const daq::RigConfig rig = daq::parse_rig_config("rig.textproto", kRig);
  daq::ScenarioConfig config = daq::parse_scenario_config(kPath, text, rig);
  require(find_limit_errors(config.limits).empty());
  const daq::MotorLimits& motor = config.limits.motor.at(0);
  require(motor.command_max <= rig.limits.motor.at(0).command_max);
  require(motor.command_slew_per_s_max <= rig.limits.motor.at(0).command_slew_per_s_max);
  for (std::size_t j = 0; j < rig.limits.joint.size(); ++j) {
    require(config.limits.joint[j].angle_rad_min >= rig.limits.joint[j].angle_rad_min);
    require(config.limits.joint[j].angle_rad_max <= rig.limits.joint[j].angle_rad_max);
    require(config.limits.joint[j].speed_rad_per_s_max <= rig.limits.joint[j].speed_rad_per_s_max);
  }
  require(config.scenario.command_peak() <= motor.command_max);
  require(std::isfinite(config.scenario.duration_s()) && config.scenario.duration_s() > 0.0);
  drive(config);
}

void check_service(const std::string& text) {
  static const service::Rig rig = service::parse_rig("rig.textproto", kRig);
  const service::Scenario scenario = service::parse_scenario(kPath, text, rig);
  const double duration = scenario.excitation.duration_s();
  require(std::isfinite(duration) && duration > 0.0);
  require(std::isfinite(scenario.rate) && scenario.rate > 0.0);
  require(scenario.initial_angles.allFinite() && scenario.initial_speeds.allFinite());
  require(std::isfinite(scenario.noise));
  for (const daq::CommandLimits& limits : scenario.command_limits) {
    require(limits.command_max >= 0.0);
  }
}

// Choosing the phases of many tones over many cycles takes seconds by design; those are skipped.
bool takes_long(const std::string& text) {
  rigcal::v1::Scenario source;
  proto::TextLocator::Tree tree;
  try {
    proto::parse_text(kPath, text, source, tree);
  } catch (const proto::InputError&) {
    return false;
  }
  double points = 64.0;
  int sines = 0;
  for (const auto& multisine : source.multisine()) {
    sines += multisine.sine_size();
    for (const auto& sine : multisine.sine()) {
      points = std::max(points, 64.0 * sine.frequency_hz() * source.duration_s());
    }
  }
  return points * sines > 1e4;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::silence_protobuf();
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (takes_long(text)) return 0;
  fuzz::expect_value_or_refusal(kNamed, [&] { check_daq(text); });
  fuzz::expect_value_or_refusal(kNamed, [&] { check_service(text); });
  return 0;
}
