#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <sstream>

#include "daq/config/scenario_config.hpp"
#include "daq/console/recording_sink.hpp"
#include "daq/console/unit_connection.hpp"
#include "proto/check/number_check.hpp"
#include "proto/recording/convert.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/rig.pb.h"
#include "proto/scenario.pb.h"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "tests/daq/simulated_rig.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/proto/schema_fields.hpp"
#include "tests/support/memory_input_file.hpp"

// Every number of a rig file and of each kind of scenario file is replaced in turn by NaN,
// infinity, a negative number, zero, a tiny or a huge number. Either the file is refused with a
// message that names the field, or the run is safe: every exceeded limit trips, the motor ends
// unpowered, and every sample can be read back from the recording.

namespace daq {
namespace {

using test_support::FieldPath;
namespace v1 = rigcal::v1;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kValues[] = {std::numeric_limits<double>::quiet_NaN(),
                              kInf,
                              -kInf,
                              1e300,
                              -1e300,
                              1e9,
                              -1.0,
                              0.0,
                              1e-300,
                              0.1};

const char* const kPropertyRig = R"(name: "small"
joint { name: "arm" motor { control_unit: "V" control_max: 8 } encoder { counts_per_turn: 4096 } }
joint { name: "pendulum" encoder { counts_per_turn: 4096 } }
unit {
  url: "sim:x" ttl_ms: 20 divider: 1
  channel { joint: "arm" offset_rad: 0.01 } channel { joint: "pendulum" }
  inertial { sensor: "imu" }
}
inertial_sensor {
  name: "imu" body: "rod" gyroscope { counts_per_rad_per_s: 100 }
  accelerometer { counts_per_m_per_s2: 100 }
}
safety {
  command_max: 8 command_slew_per_s_max: 8000 staleness_ms_max: 15
  motor { joint: "arm" command_slew_per_s_max: 7000 }
  joint {
    joint: "arm" angle_rad_min: -2 angle_rad_max: 2 speed_rad_per_s_max: 60 jump_rad_max: 0.6
    missing_ms_max: 10
  }
  joint { joint: "pendulum" angle_rad_min: -200 angle_rad_max: 200 speed_rad_per_s_max: 80 }
  inertial { sensor: "imu" }
}
real_time { priority: 0 cpu: 0 }
)";

const char* const kLimits =
    " limits { command_max: 5 command_slew_max: 5000 "
    "joint { joint: 'arm' angle_rad_max: 1.5 speed_rad_per_s_max: 50 } }";

const char* const kScenarios[] = {
    "duration_s: 0.2 release { joint: 'pendulum' held_angle_rad: 0.1 held_tolerance_rad: 0.2 "
    "rest_speed_rad_per_s: 0.1 rest_time_s: 0.1 }",
    "duration_s: 0.2 swing_up { motor: 'arm' pendulum: 'pendulum' energy_gain: 3 command_max: 4 "
    "natural_frequency_hz: 1.5 stop_angle_rad: 0.3 kick_command: 2 kick_time_s: 0.05 }",
    "duration_s: 0.2 pulse { motor: 'arm' command: 4 start_s: 0.02 width_s: 0.1 }",
    "duration_s: 0.2 step { motor: 'arm' command: 4 start_s: 0.02 }",
    "duration_s: 0.2 chirp { motor: 'arm' amplitude: 4 frequency_start_hz: 1 "
    "frequency_end_hz: 20 start_s: 0.02 }",
    "duration_s: 0.2 multisine { motor: 'arm' ramp_s: 0.05 sine { frequency_hz: 7 amplitude: 2 "
    "phase_rad: 1 } sine { frequency_hz: 11 amplitude: 2 } }",
    "duration_s: 0.2 test_push { motor: 'arm' command: 4 rise_s: 0.05 motion_rad: 0.1 rest_s: 0.02 "
    "count: 2 }"};

template <typename Message>
Message parsed(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

std::string text_of(const google::protobuf::Message& message) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(message, &text);
  return text;
}

// The settings that a run depends on. Changes of other fields need no run.
std::string essence(const RigConfig& rig) {
  std::ostringstream text;
  text.precision(17);
  for (const ChannelConfig& channel : rig.channel) {
    text << channel.counts_per_turn << ' ' << channel.offset_rad << ' ';
  }
  const SafetyLimits& limits = rig.limits;
  text << rig.ttl_ms << ' ' << rig.divider << ' ' << limits.staleness_s_max;
  for (const MotorLimits& motor : limits.motor) {
    text << ' ' << motor.command_max << ' ' << motor.command_slew_per_s_max;
  }
  for (const JointLimits& joint : limits.joint) {
    text << ' ' << joint.angle_rad_min << ' ' << joint.angle_rad_max << ' '
         << joint.speed_rad_per_s_max << ' ' << joint.jump_rad_max << ' ' << joint.missing_s_max;
  }
  return text.str();
}

class Numbers : public ::testing::Test {
 protected:
  // Runs at most 0.6 s of virtual time and checks all safety conditions afterwards.
  void expect_safe(const RigConfig& rig, const ScenarioConfig& scenario) {
    ++runs_;
    const auto disk = std::make_shared<test_support::Disk>();
    proto::RecordingHeader header;
    header.joints = {"arm", "pendulum"};
    auto writer = proto::RecordingWriter::create(
        std::make_unique<test_support::MemoryOutputFile>(disk), header);
    ASSERT_TRUE(writer.ok());
    RecordingSink sink(std::move(writer.value()));
    LoopSettings settings = furuta_settings();
    settings.period = std::chrono::milliseconds(rig.divider);
    settings.drive = scenario.scenario.command_peak() > 0.0;
    settings.ttl_ms = rig.ttl_ms;
    settings.channel = compute_channel_scales(rig);
    SimulatedRig run(scenario.scenario, settings, simulation_settings(), scenario.limits, &sink);
    const double allowed_V =
        scenario.limits.motor[0].command_max + 10.0 / 2048;  // rounded to steps of the converter
    run.run([&](SimulatedRig& r, int) { EXPECT_LE(std::abs(r.sim_unit().output_V()), allowed_V); },
            600, /*poll_every=*/100);
    run.finish();
    run.abandon(std::chrono::milliseconds(settings.ttl_ms + 2));
    EXPECT_EQ(run.sim_unit().output_V(), 0.0);
    ASSERT_TRUE(sink.finish().ok());
    expect_limits_held(run, scenario.limits);
    expect_read_back(run, disk->content);
  }

  // An angle out of range, or NaN, must have tripped the run.
  static void expect_limits_held(SimulatedRig& run, const SafetyLimits& limits) {
    for (const proto::Sample& sample : run.sink().samples) {
      for (std::size_t j = 0; j < limits.joint.size(); ++j) {
        const bool inside = sample.valid[j] &&
                            sample.angle_rad[j] >= limits.joint[j].angle_rad_min &&
                            sample.angle_rad[j] <= limits.joint[j].angle_rad_max;
        if (inside) continue;
        ASSERT_NE(run.loop().trip(), nullptr) << sample.angle_rad[j];
        EXPECT_LE(run.loop().trip()->time_s,
                  sample.timestamp_s + limits.joint[j].missing_s_max + 1e-9);
      }
    }
  }

  // The service accepts the streamed data, and the file holds what the loop reported.
  static void expect_read_back(SimulatedRig& run, const std::vector<std::uint8_t>& content) {
    const auto file = proto::view_as_input_file(content);
    const auto recording = proto::read_recording(*file);
    ASSERT_TRUE(recording.ok());
    EXPECT_EQ(recording.value().samples.size(), run.supervisor().sample_counts().recorded);
    EXPECT_EQ(run.supervisor().sample_counts().sent(), run.sim_unit().counters().samples_sent);
    EXPECT_EQ(recording.value().events.size(), run.sink().events.size());
    EXPECT_EQ(recording.value().commands.size(), run.sink().commands.size());
    const auto expect_passes = [](const auto& reported, auto message) {
      for (const auto& entry : reported) {
        proto::to_message(entry, message);
        const auto fault = proto::find_number_error(message);
        ASSERT_FALSE(fault) << fault->sentence;
      }
    };
    expect_passes(run.sink().samples, v1::Sample());
    expect_passes(run.sink().commands, v1::Command());
    expect_passes(run.sink().events, v1::Event());
    expect_passes(run.sink().gaps, v1::Gap());
    expect_passes(run.sink().clock_fits, v1::ClockFit());
    expect_passes(run.sink().stats, v1::LoopStats());
  }

  // The unit itself refuses these at the program's greeting (daq/console/unit_connection.cpp).
  static bool unit_refuses(const RigConfig& rig) {
    for (const ChannelConfig& channel : rig.channel) {
      if (channel.counts_per_turn != 4096.0) return true;
    }
    return rig.limits.motor[0].command_max > 10.0 || rig.ttl_ms > 100;
  }

  void expect_named(const std::string& sentence, const FieldPath& path) {
    ++refused_;
    EXPECT_NE(sentence.find(".textproto"), std::string::npos) << sentence;
    const bool named = sentence.find(path.back()->name()) != std::string::npos ||
                       sentence.find("lower the command") != std::string::npos;
    EXPECT_TRUE(named) << sentence;
  }

  int runs_ = 0;
  int refused_ = 0;
};

TEST_F(Numbers, OfARigFileAreRefusedOrSafe) {
  const v1::Rig base = parsed<v1::Rig>(kPropertyRig);
  const std::string usual = essence(parse_rig_config("r.textproto", kPropertyRig));
  for (const FieldPath& path : test_support::numeric_fields(*v1::Rig::descriptor())) {
    for (const double value : kValues) {
      v1::Rig rig = base;
      const double there = test_support::put_number(rig, path, value);
      SCOPED_TRACE(test_support::name_of(path) + " = " + std::to_string(there));
      std::optional<RigConfig> config;
      try {
        config = parse_rig_config("r.textproto", text_of(rig));
      } catch (const proto::InputError& error) {
        expect_named(error.what(), path);
        continue;
      }
      ASSERT_TRUE(std::isfinite(there));
      if (essence(*config) == usual || unit_refuses(*config)) continue;
      std::ostringstream step;
      step << "duration_s: 0.2 step { motor: 'arm' start_s: 0.02 command: "
           << std::min(1.0, 0.5 * config->limits.motor[0].command_max) << " }";
      const ScenarioConfig scenario = parse_scenario_config("s.textproto", step.str(), *config);
      expect_safe(*config, scenario);
    }
  }
  EXPECT_GT(refused_, 500);
  EXPECT_GT(runs_, 20);
}

TEST_F(Numbers, OfAScenarioFileAreRefusedOrSafe) {
  const RigConfig rig = parse_rig_config("r.textproto", kPropertyRig);
  for (const char* text : kScenarios) {
    const v1::Scenario base = parsed<v1::Scenario>(std::string(text) + kLimits);
    for (const FieldPath& path : test_support::numeric_fields(*v1::Scenario::descriptor())) {
      const bool is_excitation = path.front()->number() >= v1::Scenario::kReleaseFieldNumber &&
                                 path.front()->number() < v1::Scenario::kLimitsFieldNumber;
      if (is_excitation && base.GetReflection()->FieldSize(base, path.front()) == 0) continue;
      for (const double value : kValues) {
        v1::Scenario scenario = base;
        const double there = test_support::put_number(scenario, path, value);
        SCOPED_TRACE(test_support::name_of(path) + " = " + std::to_string(there));
        std::optional<ScenarioConfig> config;
        try {
          config = parse_scenario_config("s.textproto", text_of(scenario), rig);
        } catch (const proto::InputError& error) {
          expect_named(error.what(), path);
          continue;
        }
        ASSERT_TRUE(std::isfinite(there));
        expect_safe(rig, *config);
      }
    }
  }
  EXPECT_GT(refused_, 300);
  EXPECT_GT(runs_, 100);
}

}  // namespace
}  // namespace daq
