#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <variant>

#include "firmware_iface/sim/config/sim_config.hpp"
#include "firmware_iface/sim/truth_file.hpp"
#include "proto/text/input_error.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using namespace firmware_iface;
using firmware_iface::sim::load_sim_config;
using test_support::expect_parts;
using test_support::TemporaryFolder;
namespace fs = std::filesystem;

std::string complaint_about(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = folder.file("bad.textproto");
  std::ofstream(path) << text;
  try {
    load_sim_config(path);
  } catch (const proto::InputError& fault) {
    return fault.what();
  }
  return "accepted";
}

TEST(SimConfig, ShippedFilesLoad) {
  const auto furuta =
      load_sim_config(test_support::source_folder() + "/configs/sim-furuta.textproto");
  EXPECT_EQ(furuta.make_plant().joint_count(), 2);
  EXPECT_NEAR(furuta.make_plant().state().angle_rad[1], 3.1116, 1e-12);
  EXPECT_EQ(furuta.settings.to_host.baud_rate, 921'600);
  EXPECT_EQ(furuta.settings.unit.hand.release, sim::HandSettings::ReleaseTime::kAfterStreamStart);
  const auto hanging =
      load_sim_config(test_support::source_folder() + "/configs/sim-furuta-hanging.textproto");
  EXPECT_EQ(hanging.make_plant().state().angle_rad[1], 0.0);
  EXPECT_EQ(hanging.settings.unit.hand.release, sim::HandSettings::ReleaseTime::kFree);
  const auto pendulum =
      load_sim_config(test_support::source_folder() + "/configs/sim-pendulum.textproto");
  EXPECT_EQ(pendulum.make_plant().joint_count(), 1);
  EXPECT_EQ(pendulum.settings.unit.clock_error_ppm, -20.0);
}

TEST(SimConfig, OverridesReplaceTheFilesValuesAndAreWrittenDown) {
  const auto config =
      load_sim_config(test_support::source_folder() + "/configs/sim-furuta.textproto",
                      {.baud_rate = 230'400, .clock_error_ppm = 99.5, .seed = 7});
  EXPECT_EQ(config.settings.to_unit.baud_rate, 230'400);
  EXPECT_EQ(config.settings.unit.clock_error_ppm, 99.5);
  EXPECT_NE(config.settings.to_host.faults.seed, config.settings.to_unit.faults.seed);
  expect_parts(config.resolved_text, {"99.5"});
}

// Each mistake is reported with file, line and remedy.
TEST(SimConfig, MistakesAreReportedWithTheirPlace) {
  const std::string pendulum = "pendulum { mass_kg: 1 center_distance_m: 0.1 inertia: 0.01 }\n";
  EXPECT_EQ(complaint_about(pendulum), "accepted");
  expect_parts(complaint_about(""), {"add pendulum"});
  expect_parts(complaint_about(pendulum + "unit { tick_rate_hz: 0 }"), {"bad.textproto:2:"});
  expect_parts(complaint_about(pendulum + "unit { colour: 1 }"), {"colour"});
  expect_parts(complaint_about("pendulum { mass_kg: -1 center_distance_m: 0.1 }"), {"mass_kg"});
  expect_parts(complaint_about(pendulum + "line { to_host { bit_flipped: 2 } }"),
               {"line.to_host.bit_flipped is 2; it must be from 0 to 1"});
  expect_parts(complaint_about(pendulum + "unit { encoder {} encoder {} }"), {"1 joints"});
  expect_parts(complaint_about(pendulum + "unit { inertial { joint: 1 } }"), {"joints 0 to 0"});
  expect_parts(complaint_about(pendulum + "unit { inertial {} inertial {} inertial {} inertial {} "
                                          "inertial {} }"),
               {"at most 4"});
  expect_parts(complaint_about(pendulum + "unit { inertial { divider: 256 } }"), {"divider"});
  expect_parts(complaint_about(pendulum + "unit_faults { dropout_channel: 1 }"), {"channels 0"});
  const std::string stopped = "pendulum { mass_kg: 1 center_distance_m: 0.1\n";
  expect_parts(complaint_about(stopped + "stops { lower_rad: 1 upper_rad: 0.5 } }"),
               {"bad.textproto:2:"});
  expect_parts(complaint_about(stopped + "stops { lower_rad: 0.5 } }"), {"beyond a stop"});
  expect_parts(complaint_about(stopped + "stops { upper_rad: -0.5 } }"), {"beyond a stop"});
  expect_parts(complaint_about(stopped + "stops { restitution: 1.5 } }"), {"from 0 to 1"});
}

// Each number of a simulation file is checked where it acts. Catches a number stored in the wrong
// field or in the wrong unit.
TEST(SimConfig, AppliesEveryNumber) {
  const TemporaryFolder folder;
  const std::string path = folder.file("full.textproto");
  std::ofstream(path) << R"(
furuta {
  arm_mass_kg: 1.1 arm_center_distance_m: 1.2 arm_length_m: 1.3 arm_inertia_zz: 1.4
  shaft_inertia: 1.5 pendulum_mass_kg: 1.6 pendulum_center_distance_m: 1.7
  pendulum_inertia_xx: 1.8 pendulum_inertia_yy: 1.9 pendulum_inertia_zz: 2.1
  motor { gain: 2.2 back_emf: 2.3 }
  arm_friction { viscous: 3.1 quadratic_drag: 3.2 coulomb_torque: 3.3 stribeck_torque: 3.4
                 stribeck_rate: 3.5 load_arm: 3.6 }
  pendulum_friction { viscous: 4.1 quadratic_drag: 4.2 coulomb_torque: 4.3 stribeck_torque: 4.4
                      stribeck_rate: 4.5 load_arm: 4.6 }
  arm_start_angle_rad: 0.25 pendulum_start_angle_rad: -0.5
  arm_stops { lower_rad: -5.1 upper_rad: 5.2 restitution: 0.53 }
  pendulum_stops { upper_rad: 6.2 restitution: 0.63 }
}
gravity { magnitude: 9.5 tilt_x_rad: 0.01 tilt_z_rad: -0.02 }
unit {
  unit_id: 77 encoder { counts_per_turn: 1000 zero_offset_rad: 0.1 }
  encoder { counts_per_turn: 2000 zero_offset_rad: -0.2 modulus: 65536 absolute: true index: true }
  tick_rate_hz: 500 command_max_V: 12.5 command_bits: 10 ttl_max_ms: 90 clock_error_ppm: -33
  clock_start_us: 4000000000
  inertial {
    joint: 1 point_m { x: 0.1 y: 0.2 z: 0.3 } mounting_rad { x: 0.4 y: 0.5 z: 0.6 }
    gyro_bias_rad_s { x: 0.7 y: 0.8 z: 0.9 } accel_bias_m_s2 { x: 1 y: 1.1 z: 1.2 }
    gyro_noise_rad_s: 0.013 accel_noise_m_s2: 0.014 gyro_counts_per_rad_s: 15
    accel_counts_per_m_s2: 16 gyro_range_rad_s: 17 accel_range_m_s2: 18 divider: 19 dropout: 0.2
  }
  inertial {}
}
hand { release: AFTER_FIRST_COMMAND hold_s: 1.5 }
seed: 5
line {
  baud: 115200 latency_ms: 2.5
  to_host { frame_lost: 0.01 frame_duplicated: 0.02 frame_delayed: 0.03 delay_max_ms: 4
            stall: 0.05 stall_max_ms: 6 burst: 0.07 burst_size_bytes_max: 8 byte_lost: 0.09
            byte_duplicated: 0.11 bit_flipped: 0.12 }
  to_unit { frame_lost: 0.51 }
}
unit_faults { channel_dropout: 0.21 dropout_max_ms: 22 dropout_channel: 1 reset: 0.23 }
)";
  const sim::SimConfig config = load_sim_config(path);
  const auto& rig = std::get<sim::FurutaParameters>(config.rig);
  EXPECT_EQ((std::array{rig.arm_mass, rig.arm_center_distance, rig.arm_length, rig.arm_inertia_zz,
                        rig.shaft_inertia}),
            (std::array{1.1, 1.2, 1.3, 1.4, 1.5}));
  EXPECT_EQ((std::array{rig.pendulum_mass, rig.pendulum_center_distance, rig.pendulum_inertia_xx,
                        rig.pendulum_inertia_yy, rig.pendulum_inertia_zz}),
            (std::array{1.6, 1.7, 1.8, 1.9, 2.1}));
  EXPECT_EQ((std::array{rig.motor_gain, rig.back_emf, rig.gravity}), (std::array{2.2, 2.3, 9.5}));
  EXPECT_EQ(rig.tilt, (sim::Vector3{0.01, 0.0, -0.02}));
  const auto friction = [](const sim::JointFriction& f) {
    return std::array{f.viscous,         f.quadratic_drag, f.coulomb,
                      f.stribeck_excess, f.stribeck_rate,  f.load_arm};
  };
  EXPECT_EQ(friction(rig.arm_friction), (std::array{3.1, 3.2, 3.3, 3.4, 3.5, 3.6}));
  EXPECT_EQ(friction(rig.pendulum_friction), (std::array{4.1, 4.2, 4.3, 4.4, 4.5, 4.6}));
  const auto stops = [](const auto& s) {
    return std::array{s.lower_rad, s.upper_rad, s.restitution};
  };
  EXPECT_EQ(stops(rig.arm_stops), (std::array{-5.1, 5.2, 0.53}));
  EXPECT_EQ(stops(rig.pendulum_stops),
            (std::array{-std::numeric_limits<double>::infinity(), 6.2, 0.63}));
  EXPECT_EQ(config.start.angle_rad, (sim::JointArray{0.25, -0.5}));

  const sim::UnitSettings& unit = config.settings.unit;
  EXPECT_EQ(unit.inertial_count, 2);
  const sim::InertialSensorSettings& sensor = unit.inertial[0];
  EXPECT_EQ(sensor.joint, 1);
  EXPECT_EQ(sensor.point, (sim::Vector3{0.1, 0.2, 0.3}));
  EXPECT_EQ(sensor.mounting, (sim::Vector3{0.4, 0.5, 0.6}));
  EXPECT_EQ(sensor.gyro_bias, (sim::Vector3{0.7, 0.8, 0.9}));
  EXPECT_EQ(sensor.accel_bias, (sim::Vector3{1.0, 1.1, 1.2}));
  EXPECT_EQ((std::array{sensor.gyro_noise, sensor.accel_noise, sensor.gyro_counts,
                        sensor.accel_counts, sensor.gyro_range, sensor.accel_range}),
            (std::array{0.013, 0.014, 15.0, 16.0, 17.0, 18.0}));
  EXPECT_EQ(sensor.divider, 19);
  EXPECT_EQ(sensor.dropout, 0.2);
  EXPECT_EQ(unit.inertial[1].divider, 1);
  EXPECT_EQ(unit.unit_id, 77u);
  EXPECT_EQ(unit.encoder[0].counts_per_turn, 1000u);
  EXPECT_EQ(unit.encoder[1].counts_per_turn, 2000u);
  EXPECT_EQ(unit.encoder[0].zero_offset_rad, 0.1);
  EXPECT_EQ(unit.encoder[1].zero_offset_rad, -0.2);
  EXPECT_EQ(unit.tick_rate_Hz, 500);
  EXPECT_EQ(unit.encoder[0].modulus, 0U);
  EXPECT_EQ(unit.encoder[1].modulus, 65'536U);
  EXPECT_TRUE(unit.encoder[1].absolute && !unit.encoder[0].absolute);
  EXPECT_TRUE(unit.encoder[1].index && !unit.encoder[0].index);
  EXPECT_EQ(unit.motor[0].command_max, 12.5);
  EXPECT_EQ(unit.command_bits, 10);
  EXPECT_EQ(unit.ttl_max_ms, 90);
  EXPECT_EQ(unit.clock_error_ppm, -33.0);
  EXPECT_EQ(unit.clock_start_us, 4'000'000'000u);
  EXPECT_EQ(unit.hand.release, sim::HandSettings::ReleaseTime::kAfterFirstCommand);
  EXPECT_EQ(unit.hand.hold_time, Nanoseconds(1'500'000'000));
  EXPECT_EQ(unit.faults.channel_dropout, 0.21);
  EXPECT_EQ(unit.faults.dropout_max, Nanoseconds(22'000'000));
  EXPECT_EQ(unit.faults.dropout_channels, 0b10);
  EXPECT_EQ(unit.faults.reset, 0.23);

  for (const auto* line : {&config.settings.to_host, &config.settings.to_unit}) {
    EXPECT_EQ(line->baud_rate, 115'200);
    EXPECT_EQ(line->latency, Nanoseconds(2'500'000));
  }
  const LineFaults& faults = config.settings.to_host.faults;
  EXPECT_EQ(
      (std::array{faults.frame_lost, faults.frame_duplicated, faults.frame_delayed, faults.stall,
                  faults.burst, faults.byte_lost, faults.byte_duplicated, faults.bit_flipped}),
      (std::array{0.01, 0.02, 0.03, 0.05, 0.07, 0.09, 0.11, 0.12}));
  EXPECT_EQ(faults.delay_max, Nanoseconds(4'000'000));
  EXPECT_EQ(faults.stall_max, Nanoseconds(6'000'000));
  EXPECT_EQ(faults.burst_size_bytes_max, 8);
  EXPECT_EQ(config.settings.to_unit.faults.frame_lost, 0.51);
  EXPECT_EQ(config.settings.to_unit.faults.bit_flipped, 0.0);
}

// Values from the command line must satisfy the same table of ranges as those from the file.
TEST(SimConfig, ChecksTheCommandLineAgainstTheRanges) {
  const std::string file = test_support::source_folder() + "/configs/sim-furuta.textproto";
  sim::SimOverrides overrides;
  overrides.baud_rate = 12'000'000;
  EXPECT_EQ(load_sim_config(file, overrides).settings.to_host.baud_rate, 12'000'000);
  overrides.baud_rate = 12'000'001;
  EXPECT_THROW(load_sim_config(file, overrides), proto::InputError);
  overrides = {};
  overrides.clock_error_ppm = -1.1e5;
  EXPECT_THROW(load_sim_config(file, overrides), proto::InputError);
}

TEST(TruthFile, HoldsTheExactMotionAndRefusesToWriteOver) {
  const TemporaryFolder folder;
  const std::string path = folder.file("truth.csv");
  sim::TruthFile file(path, "pendulum {}\n", 2, Nanoseconds(500));
  sim::TrueState truth;
  truth.time = Nanoseconds(1'000'500);
  truth.unit_time_us = 1000;
  truth.sample_sequence = 7;
  truth.state.angle_rad = {0.25, -1.5};
  truth.encoder_counts = {163, -978};
  truth.tripped = false;
  file.write(truth);
  file.close();
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(),
            "time_s,unit_time_us,sample_sequence,theta1_rad,theta2_rad,omega1_rad_s,omega2_rad_s,"
            "count1,count2,command_V,tripped,held\n"
            "0.001000000,1000,7,0.25,-1.5,0,0,163,-978,0,0,0\n");
  EXPECT_TRUE(fs::exists(path + ".textproto"));
  EXPECT_THROW(sim::TruthFile(path, "", 2, Nanoseconds(0)), std::runtime_error);
}

}  // namespace
