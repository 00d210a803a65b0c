#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/firmware_iface/scripted_unit.hpp"

// Encoders and motors of a unit: their descriptions, and the assignment of commands and readings.

namespace {
using namespace firmware_iface;
using namespace std::chrono_literals;
using scripted_unit::ScriptedUnit;

class LinkParts : public ::testing::Test, protected scripted_unit::Session {};

// A part of a kind that this program does not know cannot be read or driven.
TEST_F(LinkParts, PartsWithSenselessDescriptionsAreRefused) {
  unit.encoder[0].kind = ENCODER_ABSOLUTE + 1;
  EXPECT_NE(link.connect().error().detail.find("encoder 0 as of kind 2"), std::string::npos);
  unit.encoder[0].kind = ENCODER_ABSOLUTE;
  unit.motor[0].scale = 0;
  EXPECT_NE(link.connect().error().detail.find("range of 0 for motor 0"), std::string::npos);
  unit.motor[0] = {PART_MISSING, 0, 1000, 0};
  EXPECT_NE(link.connect().error().detail.find("motor 0 as of kind 255"), std::string::npos);
}

// Every part has its own description. Catches a mix-up of encoders and motors, or of two of them.
TEST_F(LinkParts, EachPartHasItsOwnDescription) {
  unit.facts.encoder_count = ENCODERS_MAX;
  unit.facts.motor_count = MOTORS_MAX;
  for (std::size_t k = 0; k < ENCODERS_MAX; ++k) {
    const auto n = static_cast<std::uint32_t>(k);
    unit.encoder[k] = {static_cast<std::uint8_t>(k / 4 % 2), static_cast<std::uint8_t>(k % 4),
                       1000 + n, 65'536 + n};
  }
  for (std::size_t k = 0; k < MOTORS_MAX; ++k) {
    unit.motor[k] = {static_cast<std::uint8_t>(k % 3), 0, static_cast<std::uint32_t>(500 + k), 0};
  }
  const auto facts = link.connect();
  ASSERT_TRUE(facts.ok()) << facts.error().detail;
  for (std::size_t k = 0; k < ENCODERS_MAX; ++k) {
    const EncoderDescription& encoder = facts.value().encoder[k];
    EXPECT_EQ(encoder.is_absolute, k / 4 % 2 == 1) << k;
    EXPECT_EQ(encoder.has_index, k % 2 == 1) << k;
    EXPECT_EQ(encoder.has_home, k % 4 >= 2) << k;
    EXPECT_EQ(encoder.counts_per_turn, 1000 + k) << k;
    EXPECT_EQ(encoder.modulus, 65'536 + k) << k;
  }
  for (std::size_t k = 0; k < MOTORS_MAX; ++k) {
    EXPECT_EQ(facts.value().motor[k].kind, static_cast<int>(k % 3)) << k;
    EXPECT_DOUBLE_EQ(facts.value().motor[k].command_max, 0.5 + 1e-3 * static_cast<double>(k)) << k;
  }
}

// Commands and the unit's reports of them belong to the motor at their index, in its own units.
TEST_F(LinkParts, CommandsOfSeveralMotorsKeepTheirPlaces) {
  unit.facts.motor_count = 3;
  unit.motor[1] = {MOTOR_DUTY, 0, 1000, 0};
  unit.motor[2] = {MOTOR_AMPERE, 0, 4000, 0};
  start();
  pass({0});
  constexpr std::array kCommands{10.0, -0.5, 3.0, std::numeric_limits<double>::quiet_NaN()};
  ASSERT_TRUE(link.write_command(kCommands, 20)) << "the unit has no fourth motor";
  EXPECT_EQ(unit.commands.back().command_q15[2], std::lround(0.75 * 32767.0));
  ASSERT_TRUE(link.write_command(std::span(kCommands).first(2), 20));
  const command_request& sent = unit.commands.back();
  EXPECT_EQ(sent.command_q15[0], 32'767);
  EXPECT_EQ(sent.command_q15[1], -16'384);
  EXPECT_EQ(sent.command_q15[2], 0) << "an entry that is left out";
  sample_report report = ScriptedUnit::sample(1);
  report.command_q15[0] = 32'767;
  report.command_q15[1] = -32'767;
  report.command_q15[2] = 32'767;
  unit.send(report);
  ASSERT_EQ(read(), ReadStatus::kSample);
  EXPECT_EQ(sample.motor_count, 3);
  EXPECT_EQ(sample.command[0], 10.0);
  EXPECT_EQ(sample.command[1], -1.0);
  EXPECT_EQ(sample.command[2], 4.0);
}

// A command of any motor that is not a number trips the unit.
TEST_F(LinkParts, NaNCommandOfAnyMotorTripsTheUnit) {
  unit.facts.motor_count = 3;
  start();
  for (std::size_t motor = 0; motor < 3; ++motor) {
    std::array command{1.0, 1.0, 1.0};
    EXPECT_TRUE(link.write_command(command, 20));
    EXPECT_EQ(unit.commands.back().flags, COMMAND_ENABLE);
    command[motor] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(link.write_command(command, 20));
    EXPECT_EQ(unit.commands.back().flags, COMMAND_TRIP) << motor;
  }
}

// Samples, readings, echoes, contradictions and the clock of a stream do not count in the next.
TEST_F(LinkParts, NewStreamStartsAnew) {
  unit.facts.inertial_count = 1;
  unit.facts.inertial_ticks[0] = 1;
  start();
  link.write_command(std::array{1.0}, 20);
  sample_report report;
  for (std::uint64_t k = 0; k < 600; ++k) {
    unit.wait_until(std::chrono::milliseconds(k));
    report = ScriptedUnit::sample(k);
    report.status = STATUS_COMMAND_SEEN;
    report.command_sequence = 1;
    unit.send(report);
    ASSERT_EQ(read(), ReadStatus::kSample);
  }
  EXPECT_EQ(sample.command_sequence, 1U);
  EXPECT_TRUE(link.clock().fit().valid);
  const auto contradict = [&](std::uint64_t sequence) {
    report = ScriptedUnit::sample(sequence);
    report.sequence += 500;
    for (int k = 0; k < 7; ++k) unit.send(report);
    return read();
  };
  EXPECT_EQ(contradict(600), ReadStatus::kTimeout);
  unit.send(test_support::message_of(inertial_report{599, 1, {}}));
  EXPECT_EQ(read(), ReadStatus::kTimeout);
  EXPECT_EQ(link.counters().inertial_unmatched, 0U);

  ASSERT_TRUE(link.stop_stream().ok());
  ASSERT_TRUE(link.start_stream({}).ok());
  EXPECT_FALSE(link.clock().fit().valid);
  link.write_command(std::array{1.0}, 20);
  EXPECT_EQ(unit.commands.back().answers, 0U) << "no sample yet";
  unit.send(test_support::message_of(inertial_report{0xFFFF, 1, {}}));
  EXPECT_EQ(read(), ReadStatus::kTimeout);
  EXPECT_EQ(link.counters().inertial_unmatched, 1U) << "of a sample before the first";
  EXPECT_EQ(contradict(0), ReadStatus::kTimeout);
  unit.send(report);
  EXPECT_EQ(read(), ReadStatus::kInconsistent) << "the eighth";
  report = ScriptedUnit::sample(0);
  report.error_count = 5;
  unit.send(report);
  ASSERT_EQ(read(), ReadStatus::kSample);
  EXPECT_EQ(sample.unit_error_count, 0U);
  EXPECT_EQ(sample.command_sequence, 0U);
  EXPECT_EQ(sample.inertial.sensors, 0);
}

// A command carries the number of the last sample read, past the 16 bits that a sample holds.
TEST_F(LinkParts, CommandNamesTheSampleThatItAnswers) {
  start();
  for (const std::uint64_t sequence : {0U, 7U, 65'535U, 65'536U, 70'000U}) {
    unit.wait_until(std::chrono::milliseconds(sequence));
    pass({sequence});
    link.write_command(std::array{1.0}, 20);
    EXPECT_EQ(unit.commands.back().answers, sequence);
  }
}

// Marks, and the report of a command that came too late, belong to their sample.
TEST_F(LinkParts, MarksAndRejectedCommandsArriveWithTheirSample) {
  unit.has_marks = true;
  unit.facts.capabilities |= UNIT_CAN_MARKS;
  start({.marks = true});
  sample_report report = ScriptedUnit::sample(0);
  report.index_passed = 1;
  report.status = STATUS_COMMAND_REJECTED;
  unit.send(report);
  ASSERT_EQ(read(), ReadStatus::kSample);
  EXPECT_EQ(sample.index_passed, 1);
  EXPECT_EQ(sample.home_closed, 0);
  EXPECT_TRUE(sample.command_rejected);
  report = ScriptedUnit::sample(1);
  report.home_closed = 0x8000;
  unit.send(report);
  ASSERT_EQ(read(), ReadStatus::kSample);
  EXPECT_EQ(sample.index_passed, 0);
  EXPECT_EQ(sample.home_closed, 0x8000);
  EXPECT_FALSE(sample.command_rejected);
}

}  // namespace
