#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "firmware_iface/sim/config/sim_config.hpp"
#include "firmware_iface/sim/truth_file.hpp"
#include "proto/text/input_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using namespace firmware_iface;
using firmware_iface::sim::load_sim_config;
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
  const auto furuta = load_sim_config(RIG_SOURCE_DIR "/configs/sim-furuta.textproto");
  EXPECT_EQ(furuta.make_plant().joint_count(), 2);
  EXPECT_NEAR(furuta.make_plant().state().angle_rad[1], 3.1116, 1e-12);
  EXPECT_EQ(furuta.settings.to_host.baud_rate, 921'600);
  EXPECT_EQ(furuta.settings.unit.hand.release, sim::OperatorSettings::Release::kAfterStreamStart);
  const auto hanging = load_sim_config(RIG_SOURCE_DIR "/configs/sim-furuta-hanging.textproto");
  EXPECT_EQ(hanging.make_plant().state().angle_rad[1], 0.0);
  EXPECT_EQ(hanging.settings.unit.hand.release, sim::OperatorSettings::Release::kFree);
  const auto pendulum = load_sim_config(RIG_SOURCE_DIR "/configs/sim-pendulum.textproto");
  EXPECT_EQ(pendulum.make_plant().joint_count(), 1);
  EXPECT_EQ(pendulum.settings.unit.clock_error_ppm, -20.0);
}

TEST(SimConfig, OverridesReplaceTheFilesValuesAndAreWrittenDown) {
  const auto config = load_sim_config(RIG_SOURCE_DIR "/configs/sim-furuta.textproto",
                                      {.baud_rate = 230'400, .clock_error_ppm = 99.5, .seed = 7});
  EXPECT_EQ(config.settings.to_unit.baud_rate, 230'400);
  EXPECT_EQ(config.settings.unit.clock_error_ppm, 99.5);
  EXPECT_NE(config.settings.to_host.faults.seed, config.settings.to_unit.faults.seed);
  EXPECT_NE(config.resolved_text.find("99.5"), std::string::npos);
}

// Each mistake is named with file, line and what to do.
TEST(SimConfig, MistakesAreNamedWithTheirPlace) {
  const std::string pendulum = "pendulum { mass_kg: 1 center_distance_m: 0.1 inertia: 0.01 }\n";
  EXPECT_EQ(complaint_about(pendulum), "accepted");
  EXPECT_NE(complaint_about("").find("add pendulum"), std::string::npos);
  EXPECT_NE(complaint_about(pendulum + "unit { tick_rate_hz: 0 }").find("bad.textproto:2:"),
            std::string::npos);
  EXPECT_NE(complaint_about(pendulum + "unit { colour: 1 }").find("colour"), std::string::npos);
  EXPECT_NE(complaint_about("pendulum { mass_kg: -1 center_distance_m: 0.1 }").find("mass_kg"),
            std::string::npos);
  EXPECT_NE(complaint_about(pendulum + "line { to_host { bit_flipped: 2 } }")
                .find("line.to_host.bit_flipped is 2; it must be from 0 to 1"),
            std::string::npos);
  EXPECT_NE(complaint_about(pendulum + "unit { encoder {} encoder {} }").find("1 joints"),
            std::string::npos);
  EXPECT_NE(complaint_about(pendulum + "unit_faults { dropout_channel: 1 }").find("channels 0"),
            std::string::npos);
}

TEST(TruthFile, HoldsTheExactMotionAndRefusesToWriteOver) {
  const TemporaryFolder folder;
  const std::string path = folder.file("truth.csv");
  sim::TruthFile file(path, "pendulum {}\n", 2, Nanoseconds(500));
  sim::Truth truth;
  truth.time = Nanoseconds(1'000'500);
  truth.unit_time_us = 1000;
  truth.sample_sequence = 7;
  truth.state.angle_rad = {0.25, -1.5};
  truth.encoder_counts = {163, -978, 0, 0};
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
