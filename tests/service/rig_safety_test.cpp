#include <gtest/gtest.h>

#include "service/rig/rig_file.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

// The safety limits of a rig file, as the programs other than rigcal-daq read them.

namespace service {
namespace {

using namespace test_support;

struct LimitError {
  std::string from, to;  ///< change of configs/rig-furuta.textproto
  std::vector<std::string> parts;
};

const std::string kArmLimits =
    R"(  joint { joint: "1" angle_rad_min: -12.6 angle_rad_max: 12.6 speed_rad_per_s_max: 40 })";

std::string furuta_text() { return contents_of(config("rig-furuta.textproto")); }

// Limits that contradict each other or the rig would be ignored or misread: each is refused with
// its place, by every command.
TEST(RigSafety, RefusesContradictoryLimits) {
  const std::vector<LimitError> errors = {
      {"joint: \"1\" angle_rad_min: -12.6",
       "joint: \"arm\" angle_rad_min: -12.6",
       {"unknown joint \"arm\"", "use a joint of this file"}},
      {"joint: \"1\" angle_rad_min: -12.6",
       "joint: \"2\" angle_rad_min: -12.6",
       {"\"2\" has limits twice"}},
      {"angle_rad_min: -12.6 angle_rad_max: 12.6",
       "angle_rad_min: 12.6 angle_rad_max: -12.6",
       {"\"1\": angle_rad_min must be below angle_rad_max"}},
      {"angle_rad_min: -12.6 angle_rad_max: 12.6",
       "position_m_min: -1 position_m_max: 1",
       {"\"1\" turns, so it has no position_m_min; write angle_rad_min"}},
      {"command_max: 10\n  command_slew",
       "command_max: 11\n  command_slew",
       {"command_max is above the control_max of motor \"1\", 10 V"}},
      {"safety {",
       "safety {\n  motor { joint: \"2\" command_max: 1 }",
       {"\"2\" has no motor in this file"}}};
  for (const LimitError& error : errors) {
    const std::string text = replaced(furuta_text(), error.from, error.to);
    std::vector<std::string> parts = error.parts;
    parts.push_back("r.textproto:");
    expect_parts(refusal([&] { parse_rig("r.textproto", text); }), parts);
  }
}

// A recording can be calibrated without complete limits, but not recorded: info reports what
// rigcal-daq would refuse.
TEST(RigSafety, IncompleteLimitsAreReportedByInfo) {
  const TemporaryFolder folder;
  const auto info = [&](const std::string& text) {
    return run_successfully("info " + folder.write("r.textproto", text)).out;
  };
  const std::string kRefuses = "note: rigcal-daq refuses to drive this rig: ";
  EXPECT_EQ(info(furuta_text()).find(kRefuses), std::string::npos);
  expect_parts(info(replaced(furuta_text(), kArmLimits, "")),
               {kRefuses, "has no limits for joint \"1\""});
  expect_parts(info(replaced(furuta_text(), "speed_rad_per_s_max: 40", "")),
               {kRefuses, "speed_rad_per_s_max must be a positive number"});
  expect_parts(info(replaced(furuta_text(), "angle_rad_min: -12.6 angle_rad_max: 12.6", "")),
               {kRefuses, "angle_rad_min must be below angle_rad_max; give both"});
  expect_parts(info(replaced(furuta_text(), "safety {\n  command_max: 10\n", "safety {\n")),
               {kRefuses, "\"1\": command_max must be a positive number"});
}

}  // namespace
}  // namespace service
