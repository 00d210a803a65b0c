#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "daq/commission/commission_json.hpp"
#include "daq/commission/commissioning.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

// The steps of a commissioning, in any order and repeated, without a rig.

namespace daq {
namespace {

using test_support::expect_parts;

RigConfig three_joints(const std::string& gain = "0.05") {
  return parse_rig_config("r.textproto", R"(name: "r"
joint { name: "1" motor { control_unit: "V" gain { value: )" +
                                             gain + R"( } }
        encoder { counts_per_turn: 4096 } }
joint { name: "2" encoder { counts_per_turn: 4096 } }
joint { name: "3" encoder { counts_per_turn: 4096 } }
unit { channel { joint: "1" } channel { joint: "2" } channel { joint: "3" } }
safety { command_max: 10
  joint { joint: "1" angle_rad_min: -9 angle_rad_max: 9 speed_rad_per_s_max: 30 }
  joint { joint: "2" angle_rad_min: -8 angle_rad_max: 8 speed_rad_per_s_max: 30 }
  joint { joint: "3" angle_rad_min: -7 angle_rad_max: 7 speed_rad_per_s_max: 30 } })");
}

firmware_iface::UnitDescription three_encoders() {
  firmware_iface::UnitDescription facts;
  facts.encoder_count = 3;
  for (std::size_t e = 0; e < 3; ++e) facts.encoder[e].counts_per_turn = 4096;
  return facts;
}

/// Records encoders every millisecond. `counts_of` returns the counts of an encoder at a time [ms].
template <typename Counts>
EncoderRecorder record(int encoder_count, int last_ms, const Counts& counts_of) {
  EncoderRecorder recorder;
  firmware_iface::UnitSample sample;
  sample.encoder_count = encoder_count;
  sample.encoders_valid = 0xFFFF;
  for (int ms = 0; ms <= last_ms; ++ms) {
    sample.unit_time_us = 1000 * ms;
    for (int e = 0; e < encoder_count; ++e) {
      sample.encoder_counts[static_cast<std::size_t>(e)] = counts_of(e, ms);
    }
    recorder.add(sample);
  }
  return recorder;
}

/// Counts that rise from zero to these values within a second, and stay there.
EncoderRecorder watch_of(const std::vector<std::int64_t>& changes) {
  return record(static_cast<int>(changes.size()), 2000, [&](int e, int ms) {
    return changes[static_cast<std::size_t>(e)] * std::min(ms, 1000) / 1000;
  });
}

TEST(Commissioning, NotesLimitsBeyondEndStops) {
  RigConfig rig = three_joints();
  const Findings none = Commissioning(rig, three_encoders(), {}).find_limits_beyond_stops();
  EXPECT_TRUE(none.empty());
  rig.limits.motion[2].stop_rad_min = -7.0;  // at the limit, not inside it
  rig.limits.motion[2].stop_rad_max = 6.5;
  const Findings found = Commissioning(rig, three_encoders(), {}).find_limits_beyond_stops();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Finding::FindingKind::kNote);
  EXPECT_NE(found[0].text.find("angle_rad_max of joint \"3\", 7, is beyond its end stop at 6.5"),
            std::string::npos)
      << found[0].text;
}

// Three channels exchanged cyclically: each joint's encoder, limits and other fields must move.
TEST(Commissioning, FindsChannelsInACircle) {
  Commissioning found(three_joints(), three_encoders(), {});
  found.add_hand_motion(0, {}, watch_of({0, 1024, 0}));
  found.add_hand_motion(1, {}, watch_of({0, 0, 1024}));
  found.add_hand_motion(2, {}, watch_of({-1024, 0, 0}));
  EXPECT_EQ(count_faults(found.assign_encoders()), 0U);
  ASSERT_EQ(found.rig().channel[0].joint, "3");
  EXPECT_EQ(found.rig().channel[1].joint, "1");
  EXPECT_EQ(found.rig().channel[2].joint, "2");
  EXPECT_EQ(found.rig().limits.joint[0].angle_rad_max, 7.0);
  EXPECT_TRUE(found.joints()[2].inverted);
  EXPECT_EQ(found.motors()[0].channel, 1U);
}

// A joint whose encoder did not count keeps the one encoder left over and is not driven.
TEST(Commissioning, KeepsTheRemainingEncoderForAJointWithoutCounts) {
  Commissioning found(three_joints(), three_encoders(), {});
  found.add_hand_motion(0, {}, watch_of({1024, 0, 0}));
  found.add_hand_motion(1, {}, watch_of({0, 0, 0}));
  found.add_hand_motion(2, {}, watch_of({0, 0, 1024}));
  EXPECT_TRUE(found.assign_encoders().empty());
  EXPECT_NE(found.reason_against_motor_tests(), "");
}

TEST(Commissioning, ReportsAnEncoderThatCountsForTwoJoints) {
  Commissioning found(three_joints(), three_encoders(), {});
  found.add_hand_motion(0, {}, watch_of({1024, 0, 0}));
  found.add_hand_motion(1, {}, watch_of({0, 0, 1024}));
  found.add_hand_motion(2, {}, watch_of({0, 0, 1024}));
  const Findings findings = found.assign_encoders();
  ASSERT_EQ(count_faults(findings), 1U);
  expect_parts(findings[0].text, {"Encoder 2 counted for joint \"2\" and for joint \"3\""});
  for (const CheckedJoint& joint : found.joints()) EXPECT_FALSE(joint.is_scale_confirmed);
}

// If only one joint is checked, the encoder of another joint cannot be determined.
TEST(Commissioning, RequiresAllJointsIfEncodersAreExchanged) {
  Commissioning found(three_joints(), three_encoders(), {"1"});
  EXPECT_FALSE(found.covers_all_joints());
  found.add_hand_motion(0, {}, watch_of({0, 1024, 0}));
  EXPECT_EQ(count_faults(found.assign_encoders()), 1U);
  EXPECT_EQ(found.rig().channel[0].joint, "1");
}

// The unit's own description belongs to the encoder, not to the joint.
TEST(Commissioning, RefusesAnOrderThatTheUnitContradicts) {
  firmware_iface::UnitDescription facts = three_encoders();
  facts.encoder[1].counts_per_turn = 2048;
  Commissioning found(three_joints(), facts, {});
  found.add_hand_motion(0, {}, watch_of({0, 1024, 0}));
  found.add_hand_motion(1, {}, watch_of({1024, 0, 0}));
  found.add_hand_motion(2, {}, watch_of({0, 0, 1024}));
  EXPECT_EQ(count_faults(found.assign_encoders()), 1U);
}

// Motions of a joint by hand, one after the other: each replaces what the one before has found.
// The encoder that counts belongs to the joint, its sign is the joint's, and its scale is confirmed
// within the tolerance of a hand on both sides.
TEST(Commissioning, ReplacesARepeatedStep) {
  Commissioning found(three_joints(), three_encoders(), {"2"});
  EXPECT_EQ(count_faults(found.add_rest_recording(watch_of({0, 50, 0}))), 1U);
  EXPECT_EQ(count_faults(found.add_rest_recording(watch_of({0, 0, 0}))), 0U);
  struct Case {
    std::vector<std::int64_t> counts;
    std::size_t encoder;
    bool is_known, is_confirmed;
    std::vector<std::string> parts;  // of the first finding
  };
  const std::vector<Case> cases = {
      {{0, 1024, 0}, 1, true, true, {"Encoder 1 counted +1024 for", "4096 is right"}},
      {{0, -1024, 0}, 1, true, true, {"Encoder 1 counted -1024 for", "4096 is right"}},
      {{0, 0, 0}, 1, false, false, {"Encoder 1 did not count", "input 1."}},
      {{0, 0, -11}, 1, false, false, {"Encoder 1 did not count", "(Encoder 2 counted -11.)"}},
      {{0, 0, 1000}, 2, true, true, {"Encoder 2 counted +1000", "for joint \"3\"", "1 counted 0."}},
      {{500, 3, 0}, 0, true, false, {"Encoder 0 counted +500", "for joint \"1\"", "counted +3."}},
      {{0, 3, -1400}, 2, true, false, {"Encoder 2 counted -1400", "lists it for joint \"3\""}},
      {{0, 1024, 900}, 1, false, false, {"Encoders 1 and 2 both counted"}},
      {{900, 1024, 0}, 1, false, false, {"Encoders 1 and 0 both counted"}},
      {{0, 4096, 0}, 1, true, false, {"4 times too many", "counts_per_turn: 16384"}},
      {{0, -256, 0}, 1, true, false, {"4 times too few", "counts_per_turn: 1024"}},
      {{0, 1400, 0}, 1, true, false, {"Repeat the motion", "is about 5600"}}};
  for (std::size_t before = 0; before < cases.size(); ++before) {
    for (const Case& now : cases) {
      found.add_hand_motion(0, {0.25, "a quarter turn", 1.3}, watch_of(cases[before].counts));
      const Findings findings =
          found.add_hand_motion(0, {0.25, "a quarter turn", 1.3}, watch_of(now.counts));
      const CheckedJoint& joint = found.joints()[0];
      expect_parts(findings.front().text, now.parts);
      EXPECT_EQ(joint.encoder, now.encoder);
      EXPECT_EQ(joint.is_encoder_known, now.is_known) << findings.front().text;
      EXPECT_EQ(joint.is_scale_confirmed, now.is_confirmed) << findings.front().text;
      EXPECT_EQ(count_faults(findings), now.is_confirmed ? 0U : 1U) << findings.front().text;
      if (!now.is_known) continue;
      const bool counts_down = now.counts[now.encoder] < 0;
      EXPECT_EQ(joint.inverted, counts_down);
      EXPECT_EQ(findings.back().text.find("inverted becomes true.") != std::string::npos,
                counts_down);
      EXPECT_NEAR(joint.count_ratio, static_cast<double>(now.counts[now.encoder]) / 1024, 1e-3);
    }
  }
  found.add_hand_motion(0, {}, watch_of({0, 1024, 0}));
  EXPECT_NE(found.reason_against_motor_tests(), "");  // no zero yet
  EXPECT_EQ(count_faults(found.add_zero_recording(0, watch_of({0, 0, 0}))), 0U);
  EXPECT_EQ(found.reason_against_motor_tests(), "");
}

// The offset has the sign that the motion by hand has shown, not that of the rig file.
TEST(Commissioning, FindsTheZeroWithTheSignOfTheMotion) {
  for (const std::int64_t sign : {1, -1}) {
    Commissioning found(three_joints(), three_encoders(), {"2"});
    found.add_hand_motion(0, {0.25, "a quarter turn", 1.3}, watch_of({0, sign * 1024, 0}));
    found.add_zero_recording(0, watch_of({0, 512, 0}));
    const double offset_rad = -static_cast<double>(sign) * std::numbers::pi / 4;
    EXPECT_NEAR(found.joints()[0].offset, offset_rad, 1e-12);
    const RigConfig corrected = found.corrected_rig();
    EXPECT_EQ(corrected.channel[1].inverted, sign < 0);
    EXPECT_NEAR(corrected.channel[1].offset_rad, offset_rad, 1e-12);
    EXPECT_EQ(corrected.limits.motion[1].rad_per_count > 0.0, sign > 0);
    EXPECT_EQ(corrected.limits.motion[0].rad_per_count,
              three_joints().limits.motion[0].rad_per_count);
  }
}

// A joint that still moves has no zero.
TEST(Commissioning, RefusesAZeroInMotion) {
  Commissioning found(three_joints(), three_encoders(), {"2"});
  const EncoderRecorder watch =
      record(3, 1000, [](int e, int ms) { return e == 1 ? -ms / 100 : 0; });
  const Findings findings = found.add_zero_recording(0, watch);
  ASSERT_EQ(count_faults(findings), 1U);
  expect_parts(findings[0].text, {"Joint \"2\" still moved"});
  EXPECT_FALSE(found.joints()[0].has_zero);
}

// A joint at rest at zero whose counter wraps although the unit reports no modulus.
TEST(Commissioning, FindsAWrongModulus) {
  Commissioning found(three_joints(), three_encoders(), {"2"});
  const EncoderRecorder watch = record(
      3, 2000, [](int e, int ms) { return e == 1 ? (65'000 + std::min(ms, 1024)) % 65'536 : 0; });
  const Findings findings = found.add_hand_motion(0, {}, watch);
  ASSERT_GE(count_faults(findings), 1U);
  bool is_named = false;
  for (const Finding& finding : findings) {
    is_named = is_named || finding.text.find("wrap at 65536") != std::string::npos;
  }
  EXPECT_TRUE(is_named);
  EXPECT_FALSE(found.joints()[0].is_scale_confirmed);

  // A jump on the way, and the right counts at the end.
  const EncoderRecorder loose = record(3, 2000, [](int e, int ms) {
    return e == 1 ? std::min(ms, 1024) + (ms >= 400 && ms < 500 ? 300 : 0) : 0;
  });
  const Findings jumped = found.add_hand_motion(0, {}, loose);
  EXPECT_EQ(count_faults(jumped), 1U);
  expect_parts(jumped[1].text, {"Encoder 1 jumped by", "Check its cable"});
  EXPECT_FALSE(found.joints()[0].is_scale_confirmed);
}

// Each verdict replaces the one before, for a motor of either sign.
TEST(Commissioning, JudgesPulses) {
  for (const double gain : {1.0, -1.0}) {
    Commissioning found(three_joints(gain > 0.0 ? "0.05" : "-0.05"), three_encoders(), {});
    const auto judge = [&](double up, double down, bool is_last = true) {
      const TestPushResult positive{.moved = up != 0.0, .motion_rad = gain * up};
      const TestPushResult negative{.moved = down != 0.0, .motion_rad = gain * down};
      found.add_pulses(0, 0.5, true, {.moved = true, .motion_rad = gain},
                       {.moved = true, .motion_rad = -gain}, "");
      EXPECT_TRUE(found.motors()[0].is_good);
      const Findings findings = found.add_pulses(0, 0.5, is_last, positive, negative, "");
      EXPECT_EQ(found.motors()[0].is_good, count_faults(findings) == 0 && is_last);
      return findings.front();
    };
    EXPECT_EQ(judge(0.05, -0.05).kind, Finding::FindingKind::kGood);
    EXPECT_EQ(judge(-0.05, -0.05).kind, Finding::FindingKind::kFault);
    expect_parts(judge(-0.05, -0.05).text, {"same direction under both"});
    expect_parts(judge(0.05, 0.0).text, {"under a positive command"});
    expect_parts(judge(0.0, -0.05).text, {"under a negative command"});
    expect_parts(judge(0.0, 0.0).text, {"did not move"});
    EXPECT_EQ(judge(0.0, 0.0, false).kind, Finding::FindingKind::kNote);
    EXPECT_EQ(judge(0.0, -0.05, false).kind, Finding::FindingKind::kNote);
    const std::vector<std::string> reversed = {
        std::string("in the ") + (gain > 0.0 ? "negative" : "positive") + " direction under",
        "Exchange the motor's two wires",
        std::string("make gain ") + (gain > 0.0 ? "negative." : "positive.")};
    expect_parts(judge(-0.05, 0.05).text, reversed);
    judge(0.05, -0.05);
    expect_parts(found.add_reversed_pulse(0).front().text, reversed);
    EXPECT_FALSE(found.motors()[0].is_good);
  }
}

// Shares of the largest command refer to each motor's own, and results stay with their motor.
TEST(Commissioning, JudgesEachMotorByItsOwnLimits) {
  const std::string text = three_joints().text;
  std::string two = test_support::replaced(
      text, "name: \"2\"", "name: \"2\" motor { control_unit: \"A\" gain { value: 0.1 } }");
  two = test_support::replaced(two, "command_max: 10",
                               "command_max: 10 motor { joint: \"2\" command_max: 2 }");
  Commissioning found(parse_rig_config("r.textproto", two), three_encoders(), {});
  for (const std::size_t motor : {0U, 1U}) {
    const TestPushResult up{.moved = true, .motion_rad = 0.1, .acceleration = 1.5};
    const TestPushResult down{.moved = true, .motion_rad = -0.1, .acceleration = -1.5};
    expect_parts(found.add_pulses(motor, 0.5, true, up, down, "").front().text,
                 {motor == 0 ? "0.5 V (5 % of" : "0.5 A (25 % of"});
    const Findings ramps = found.add_ramps(motor, {.moved = true, .onset_command = 0.15},
                                           {.moved = true, .onset_command = -0.15}, {});
    expect_parts(ramps[0].text, {motor == 0 ? "0.15 V, 1.5 % of" : "0.15 A, 7.5 % of"});
    EXPECT_EQ(found.motors()[motor].command_max, motor == 0 ? 10.0 : 2.0);
    EXPECT_EQ(found.motors()[1].is_good, motor == 1);
  }
}

// The dead band is known only if the joint moved in both ramps. Limits that are found suitable are
// not replaced, even if they were unsuitable in an earlier measurement.
TEST(Commissioning, JudgesRamps) {
  Commissioning found(three_joints(), three_encoders(), {});
  const auto ramp = [&](bool rises, bool falls, double acceleration, double onset = 0.5) {
    found.add_pulses(0, 2.0, true, {.moved = true, .motion_rad = 0.1, .acceleration = acceleration},
                     {.moved = true, .motion_rad = -0.1, .acceleration = -acceleration}, "");
    return found.add_ramps(0, {.moved = rises, .onset_command = onset},
                           {.moved = falls, .onset_command = -onset}, 3);
  };
  for (const auto& [rises, falls] : {std::pair{false, false}, {true, false}, {false, true}}) {
    const Findings findings = ramp(rises, falls, 1.0);
    ASSERT_EQ(findings.size(), 3U);
    expect_parts(findings[0].text, {"Dead band: not measured", "ramp up to 2 V"});
    EXPECT_FALSE(found.motors()[0].stall);
  }
  const Findings slow = ramp(true, true, 0.01);
  ASSERT_EQ(slow.size(), 4U);
  expect_parts(slow[0].text, {"begins to move at 0.5 V, 5 % of command_max"});
  EXPECT_EQ(slow[0].kind, Finding::FindingKind::kGood);
  EXPECT_EQ(ramp(true, true, 1.0, 1.1)[0].kind, Finding::FindingKind::kNote) << "11 %";
  expect_parts(slow[2].text, {"acts 3 ticks after"});
  ASSERT_TRUE(ramp(true, true, 0.01)[3].kind == Finding::FindingKind::kChange);
  ASSERT_TRUE(found.motors()[0].stall.has_value());
  const JointDrive& drive = found.rig().limits.motion[0];
  const StallLimits own{drive.stall_command, drive.stall_time_s};
  // An acceleration for which the limits of the rig file let a frozen joint move by 0.1 rad.
  const double suitable = 2.0 * 0.1 / (own.command * own.time_s * own.time_s);
  const Findings good = ramp(true, true, suitable * 1.9, 0.1);
  EXPECT_EQ(good[3].kind, Finding::FindingKind::kGood) << good[3].text;
  EXPECT_FALSE(found.motors()[0].stall) << "of the measurement before";
}

// Every result is in the record.
TEST(Commissioning, RecordsEveryResult) {
  RigConfig rig = three_joints();
  rig.commissioned.emplace();
  rig.commissioned->unit_id = "0x77";
  rig.commissioned->configuration_hash = "0x78";
  rig.commissioned->hash = "79ab";
  Commissioning found(rig, three_encoders(), {});
  found.add_hand_motion(0, {0.25, "a quarter turn", 1.3}, watch_of({0, -1100, 0}));
  found.add_zero_recording(1, watch_of({0, 256, 0}));
  found.add_pulses(0, 2.0, true, {.moved = true, .motion_rad = 0.1, .acceleration = 1.5},
                   {.moved = true, .motion_rad = -0.1, .acceleration = -1.5}, "");
  found.add_ramps(0, {.moved = true, .onset_command = 0.5}, {.moved = true, .onset_command = -0.5},
                  3);
  const std::string json = commissioning_record_json(
      rig, found, "2026-11-28T12:00:00Z",
      {{Finding::FindingKind::kNote, "first note"}, {Finding::FindingKind::kNote, "second note"}});
  expect_parts(json, {"\"date\": \"2026-11-28T12:00:00Z\"",
                      "\"version\": \"",
                      "\"rig\": \"r\"",
                      "\"rig_file\": \"r.textproto\"",
                      "\"rig_file_sha256\": \"",
                      "\"unit_id\": \"0x77\"",
                      "\"configuration_hash\": \"0x78\"",
                      "79ab",
                      "\"joint\": \"1\"",
                      "\"encoder\": 1",
                      "\"count_ratio\": -1.07",
                      "\"inverted\": true",
                      "\"joint\": \"2\"",
                      "\"offset\": -0.39",
                      "\"command_unit\": \"V\"",
                      "\"level\": 2",
                      "\"dead_band\": 0.5",
                      "\"acceleration\": 1",
                      "\"delay_ticks\": 3",
                      "first note",
                      "second note"});
}

}  // namespace
}  // namespace daq
