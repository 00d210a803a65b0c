#include "daq/config/commission_file.hpp"

#include <gtest/gtest.h>

#include <string>

#include "daq/commands/commands.hpp"
#include "firmware_iface/link/unit_link.hpp"
#include "firmware_iface/sim/config/sim_config.hpp"
#include "firmware_iface/sim/sim_transport.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/text_edit.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/texts.hpp"
#include "tests/support/virtual_time.hpp"

namespace daq {
namespace {

using test_support::replaced;

constexpr const char* kText = R"(name: "r"  # a rig
joint {
  name: "1"
  parent { body: "ground" axis { y: -1 } zero_direction { x: 1 } }
  child { body: "A" zero_direction { y: 1 } }
  motor { control_unit: "V" control_max: 10 gain { value: 0.05 free: true } }
  encoder { counts_per_turn: 4096 offset { value: 0.1 } }
}
joint {
  name: "2" type: PRISMATIC
  parent { body: "A" axis { x: 0.6 y: 0.8 } zero_direction { x: 1 } }  # at the left stop
  encoder { counts_per_m: 20000 }
}
unit {
  url: "pty:///x"
  # Two encoders.
  channel {
    joint: "1"  # the arm
  }
  channel { joint: "2" offset_m: 0.25 }  # the cart
  ttl_ms: 30
}
safety {
  command_max: 8
  joint { joint: "1" angle_rad_min: -2 angle_rad_max: 3 speed_rad_per_s_max: 30 }
  joint { joint: "2" position_m_min: -9 position_m_max: 8 speed_m_per_s_max: 5 }
}
)";

std::string hash_of(const std::string& text) {
  return commission_hash(parse_rig_config("r.textproto", text).commissioned_fields, "00c0ffee");
}

// A change to something that commissioning does not check must leave the hash unchanged.
TEST(CommissionHash, IgnoresUncheckedFields) {
  const std::string hash = hash_of(kText);
  EXPECT_EQ(hash.size(), 16U);
  const std::pair<const char*, const char*> kHarmless[] = {
      {"# the arm", "# the other arm"},
      {"ttl_ms: 30", "ttl_ms:   30 # ms\n"},
      {"name: \"r\"", "name: \"s\""},
      {"pty:///x", "serial:///dev/rig"},
      {"gain { value: 0.05 free: true }", "gain { value: 0.0729 }"},
      {"offset { value: 0.1 }", "offset { value: 0.2 }"},
      {"  ttl_ms: 30\n", "  ttl_ms: 30\n  commissioned { date: \"x\" hash: \"y\" }\n"}};
  for (const auto& [what, with] : kHarmless) {
    EXPECT_EQ(hash_of(replaced(kText, what, with)), hash) << with;
  }
}

TEST(CommissionHash, ChangesWithEverythingThatWasChecked) {
  const std::string hash = hash_of(kText);
  const std::pair<const char*, const char*> kChanges[] = {
      {"joint: \"1\"  # the arm", "joint: \"1\" inverted: true"},
      {"offset_m: 0.25", "offset_m: 0.26"},
      {"ttl_ms: 30", "ttl_ms: 31"},
      {"command_max: 8", "command_max: 7"},
      {"angle_rad_max: 3", "angle_rad_max: 3.1"},
      {"counts_per_turn: 4096", "counts_per_turn: 2048"},
      {"counts_per_m: 20000", "counts_per_m: 10000"},
      {"control_unit: \"V\"", "control_unit: \"A\""},
      {"control_max: 10", "control_max: 9"},
      {"value: 0.05", "value: -0.05"}};
  for (const auto& [what, with] : kChanges) {
    EXPECT_NE(hash_of(replaced(kText, what, with)), hash) << with;
  }
  EXPECT_NE(commission_hash(parse_rig_config("r", kText).commissioned_fields, "00c0ffef"), hash);
}

// Channel blocks are swapped with their content. Signs and offsets are set where the file states
// them, or are added. Everything else stays byte for byte.
TEST(CommissionEdits, KeepEverythingElse) {
  const RigConfig rig = parse_rig_config("r.textproto", kText);
  CommissionEdit edit;
  edit.channel = {{"2", false, -0.125}, {"1", true, 0.0}};
  std::string expected = kText;
  expected = replaced(expected, R"(  channel {
    joint: "1"  # the arm
  }
  channel { joint: "2" offset_m: 0.25 }  # the cart
)",
                      R"(  channel { joint: "2" offset_m: -0.125 }  # the cart
  channel {
    joint: "1"  # the arm
    inverted: true
  }
)");
  EXPECT_EQ(edit_rig_text(rig, edit), expected);
}

TEST(CommissionEdits, WriteAValidRecord) {
  const RigConfig rig = parse_rig_config("r.textproto", kText);
  firmware_iface::UnitDescription facts;
  facts.unit_id = 0xABC;
  facts.configuration_hash = 0x1234;
  EXPECT_EQ(commission_state(rig, facts), CommissionState::kNever);

  CommissionEdit edit{.channel = {{"1", true, 0.5}, {"2", false, 0.25}},
                      .record = CommissionRecord{"2026-11-26", unit_id_text(facts),
                                                 configuration_hash_text(facts), ""}};
  const std::string text = edit_rig_text(rig, edit);
  const RigConfig written = parse_rig_config("r.textproto", text);
  EXPECT_EQ(commission_state(written, facts), CommissionState::kCurrent) << text;
  EXPECT_EQ(written.commissioned->unit_id, "0000000000000abc");
  EXPECT_TRUE(written.channel[0].inverted);
  EXPECT_EQ(written.channel[0].offset_rad, 0.5);

  const RigConfig changed =
      parse_rig_config("r.textproto", replaced(text, "ttl_ms: 30", "ttl_ms: 40"));
  EXPECT_EQ(commission_state(changed, facts), CommissionState::kFileChanged);
  EXPECT_NE(describe_commission_state(CommissionState::kFileChanged, changed).find("2026-11-26"),
            std::string::npos);
  facts.configuration_hash = 0x1235;
  EXPECT_EQ(commission_state(written, facts), CommissionState::kUnitChanged);
}

/// Returns a commissioned rig file whose safety section has been edited since. The record's copy of
/// the section stands first in the file.
std::string edited_since(const std::string& what, const std::string& with) {
  const RigConfig rig = parse_rig_config("r.textproto", kText);
  const CommissionEdit edit{.channel = {{"1", false, 0.0}, {"2", false, 0.25}},
                            .record = CommissionRecord{"2026-11-26", "1", "00000000", ""}};
  std::string text = edit_rig_text(rig, edit);
  const std::size_t at = text.rfind(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

// Tighter limits keep a commissioning valid, looser ones and an edited record do not.
TEST(CommissionEdits, AllowOnlyTighterLimitsLater) {
  const firmware_iface::UnitDescription facts;
  const auto state_of = [&](const std::string& text) {
    return commission_state(parse_rig_config("r.textproto", text), facts);
  };
  const std::pair<const char*, const char*> kTighter[] = {
      {"command_max: 8", "command_max: 7"},
      {"angle_rad_max: 3", "angle_rad_max: 2.5"},
      {"angle_rad_min: -2", "angle_rad_min: -1"},
      {"speed_m_per_s_max: 5", "speed_m_per_s_max: 4 missing_ms_max: 5"},
      {"command_max: 8", "command_max: 8 staleness_ms_max: 40 stall { time_s: 0.3 }"}};
  for (const auto& [what, with] : kTighter) {
    EXPECT_EQ(state_of(edited_since(what, with)), CommissionState::kCurrent) << with;
  }
  const std::pair<const char*, const char*> kLooser[] = {
      {"command_max: 8", "command_max: 9"},
      {"angle_rad_max: 3", "angle_rad_max: 3.1"},
      {"angle_rad_min: -2", "angle_rad_min: -2.1"},
      {"position_m_max: 8", "position_m_max: 8.5"},
      {"speed_m_per_s_max: 5", "speed_m_per_s_max: 6"},
      {"speed_m_per_s_max: 5", "speed_m_per_s_max: 5 missing_ms_max: 11"},
      {"speed_m_per_s_max: 5", "speed_m_per_s_max: 5 may_stand_still: true"},
      {"command_max: 8", "command_max: 8 staleness_ms_max: 51"},
      {"command_max: 8", "command_max: 8 command_slew_per_s_max: 1e6"},
      {"command_max: 8", "command_max: 8 stall { time_s: 0.7 }"}};
  for (const auto& [what, with] : kLooser) {
    EXPECT_EQ(state_of(edited_since(what, with)), CommissionState::kLimitLoosened) << with;
  }
  const RigConfig loosened =
      parse_rig_config("r.textproto", edited_since("angle_rad_max: 3", "angle_rad_max: 3.1"));
  EXPECT_EQ(describe_commission_state(CommissionState::kLimitLoosened, loosened),
            "r.textproto: angle_rad_max of joint \"1\" was loosened from 3 to 3.1 since it was "
            "commissioned on 2026-11-26");
  const std::string text = edited_since("ttl_ms: 30", "ttl_ms: 30");
  EXPECT_EQ(state_of(replaced(text, "angle_rad_max: 3 ", "angle_rad_max: 9 ")),
            CommissionState::kFileChanged);
}

// Stall limits are written to the motor's own limits if it has any, otherwise to the rig's, or to a
// new entry if the motors differ. Rounding makes no limit tighter.
TEST(CommissionEdits, WriteStallLimits) {
  const auto edited = [](const std::string& text) {
    const RigConfig rig = parse_rig_config("r.textproto", text);
    CommissionEdit edit{.stall = {{"1", 1.2345, 0.4321}}};
    for (const ChannelConfig& channel : rig.channel) {
      edit.channel.push_back({channel.joint, channel.inverted, channel.offset_rad});
    }
    return edit_rig_text(rig, edit);
  };
  const std::string end = "speed_m_per_s_max: 5 }\n";
  EXPECT_EQ(edited(kText), replaced(kText, end, end + "  stall { command: 1.3 time_s: 0.44 }\n"));
  const std::string own = "  motor { joint: \"1\" command_max: 7 }\n";
  EXPECT_EQ(edited(replaced(kText, end, end + own)),
            replaced(kText, end,
                     end + "  motor { joint: \"1\" command_max: 7 stall { command: 1.3 time_s: "
                           "0.44 } }\n"));
  const std::string two = replaced(kText, "encoder { counts_per_m",
                                   "motor { control_unit: \"V\" } encoder { counts_per_m");
  EXPECT_EQ(
      edited(two),
      replaced(two, end, end + "  motor { joint: \"1\" stall { command: 1.3 time_s: 0.44 } }\n"));
}

// --- Predicted motion of a run ---

Scenario step(double command) { return Scenario("step", Step{.amplitude = command}, 1.0); }

TEST(CommissionCheck, RefusesLargeCommandsOfARigThatIsNotCommissioned) {
  const RigConfig rig = parse_rig_config("r.textproto", kText);  // command_max 8
  const firmware_iface::UnitDescription facts;
  const auto check = [&](double peak, bool allowed = false) {
    return check_commissioning(rig, facts, "s.textproto", step(peak), allowed);
  };
  EXPECT_FALSE(check(2.0).refuses);
  EXPECT_NE(check(2.0).text.find("never commissioned"), std::string::npos);
  const CommissioningCheck refused = check(2.0001);
  EXPECT_TRUE(refused.refuses);
  for (const char* part : {"r.textproto was never commissioned", "s.textproto commands up to 2",
                           "'rigcal-daq commission --rig r.textproto'", "--not-commissioned"}) {
    EXPECT_NE(refused.text.find(part), std::string::npos) << refused.text;
  }
  EXPECT_TRUE(check(std::numeric_limits<double>::quiet_NaN()).refuses);
  EXPECT_FALSE(check(8.0, true).refuses);
  EXPECT_FALSE(check(0.0).refuses);
}

TEST(CommissionCheck, IsSilentForACommissionedRig) {
  RigConfig rig = parse_rig_config("r.textproto", kText);
  const firmware_iface::UnitDescription facts;
  const std::string unit = configuration_hash_text(facts);
  rig.commissioned = {"2026-11-26", unit_id_text(facts), unit,
                      commission_hash(rig.commissioned_fields, unit)};
  EXPECT_EQ(check_commissioning(rig, facts, "s.textproto", step(8.0), false).text, "");
}

// --- Texts for the operator ---

TEST(JointGuides, DescribeJointsAsTheRigFileDoes) {
  const RigConfig rig = parse_rig_config("r.textproto", kText);
  EXPECT_EQ(read_joint_description(rig, "1").positive_way, "clockwise seen from above");
  EXPECT_EQ(read_joint_description(rig, "1").zero, "+y of body \"A\" along +x of the world");
  EXPECT_EQ(read_joint_description(rig, "2").positive_way, "toward (0.6 0.8 0) of body \"A\"");
  EXPECT_EQ(read_joint_description(rig, "2").zero, "at the left stop");
}

TEST(LineDiff, ShowsWhatChanged) {
  EXPECT_EQ(proto::diff_lines("a\nb\nc\n", "a\nb\nc\n"), "");
  EXPECT_EQ(proto::diff_lines("a\nb\nc\nd\n", "a\nB\nc\nd\ne\n"),
            "    2 - b\n    2 + B\n    5 + e\n");
  EXPECT_EQ(proto::diff_lines("", "a"), "    1 + a\n");
  EXPECT_EQ(proto::diff_lines("a\nb", ""), "    1 - a\n    2 - b\n");
  // So many lines that every change between the first and the last must be shown.
  std::string many, other;
  for (int k = 0; k < 3000; ++k) many += std::to_string(k) + "\n";
  other = "x\n" + many + "y\n";
  EXPECT_EQ(proto::diff_lines(many, other).substr(0, 10), "    1 - 0\n");
}

// --- Shipped rig files ---

firmware_iface::UnitDescription facts_of(const std::string& simulation) {
  namespace sim = firmware_iface::sim;
  const sim::SimConfig config =
      sim::load_sim_config(test_support::source_folder() + "/configs/" + simulation);
  auto time = std::make_shared<firmware_iface::VirtualTime>();
  sim::SimTransport transport(
      std::make_unique<sim::UnitSimulation>(config.settings, config.make_plant(), time->now()),
      time, "virtual unit", config.settings.to_host.baud_rate);
  firmware_iface::UnitLink link(transport);
  const auto facts = link.connect();
  EXPECT_TRUE(facts.ok());
  return facts.ok() ? facts.value() : firmware_iface::UnitDescription{};
}

// An outdated record would make the demo refuse to run. scripts/commission_configs.sh renews it.
TEST(Commission, ShippedRigsAreCommissioned) {
  const std::pair<const char*, const char*> kShipped[] = {
      {"rig-furuta.textproto", "sim-furuta-hanging.textproto"},
      {"rig-furuta.textproto", "sim-furuta.textproto"},
      {"rig-pendulum.textproto", "sim-pendulum.textproto"}};
  for (const auto& [rig, simulation] : kShipped) {
    const RigConfig config = load_rig_config(test_support::source_folder() + "/configs/" + rig);
    EXPECT_EQ(commission_state(config, facts_of(simulation)), CommissionState::kCurrent)
        << rig << " at " << simulation << ": run scripts/commission_configs.sh";
  }
}

}  // namespace
}  // namespace daq
