#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <numbers>
#include <optional>

#include "firmware_iface/sim/plants.hpp"
#include "firmware_iface/sim/sim_server.hpp"
#include "tests/support/wire_messages.hpp"

// The simulated operator's hand, and the wiring mistakes that commissioning must find.

namespace firmware_iface::sim {
namespace {

using std::chrono::milliseconds;

class Hand : public ::testing::Test {
 protected:
  explicit Hand(const EncoderSettings& encoder = {})
      : simulation_(settings_with(encoder), Plant(std::make_unique<PendulumModel>(kSwinging), {}),
                    Nanoseconds(0), [this](const TrueState& truth) { truth_ = truth; }) {}

  static SimulationSettings settings_with(const EncoderSettings& encoder) {
    SimulationSettings settings;
    settings.unit.encoder[0] = encoder;
    return settings;
  }
  SimulatedUnit& unit() { return simulation_.unit(); }
  double angle_at(milliseconds time) {
    simulation_.advance_to(time);
    return truth_.state.angle_rad[0];
  }

  static constexpr PendulumParameters kSwinging{};
  UnitSimulation simulation_;
  TrueState truth_;
};

// The hand moves the joint smoothly, holds it against gravity, and then releases it.
TEST_F(Hand, TurnsHoldsAndLetsGo) {
  unit().turn_by_hand(0, 1.2, milliseconds(1000), milliseconds(100));
  EXPECT_NEAR(angle_at(milliseconds(600)), 0.6, 1e-9);
  EXPECT_DOUBLE_EQ(angle_at(milliseconds(1100)), 1.2);
  EXPECT_DOUBLE_EQ(angle_at(milliseconds(5000)), 1.2);
  EXPECT_TRUE(truth_.held);
  EXPECT_EQ(truth_.encoder_counts[0], std::llround(1.2 / (2.0 * std::numbers::pi) * 4096));
  unit().release_rig(milliseconds(5000));
  EXPECT_LT(angle_at(milliseconds(5200)), 1.1);
}

TEST_F(Hand, UnderstandsItsLines) {
  EXPECT_EQ(execute_hand_command("1 0.5 0.2", unit(), Nanoseconds(0)), "");
  EXPECT_DOUBLE_EQ(angle_at(milliseconds(200)), 0.5);
  EXPECT_EQ(execute_hand_command("1 -0.5", unit(), milliseconds(200)), "");
  EXPECT_DOUBLE_EQ(angle_at(milliseconds(1200)), -0.5);
  EXPECT_EQ(execute_hand_command("release", unit(), milliseconds(1200)), "");
  EXPECT_FALSE(unit().plant().is_held_by_hand());
  EXPECT_EQ(execute_hand_command("  ", unit(), milliseconds(1200)), "");
  for (const char* line : {"0 1", "2 1", "1", "1 nan", "1 0.5 0", "1 0.5 -1", "1 0.5 1 2", "1 x",
                           "turn 1", "1 0.5 inf"}) {
    EXPECT_NE(execute_hand_command(line, unit(), milliseconds(1200)), "") << line;
  }
}

// Lines arrive in pieces. The end of the input ends only the hand's motions.
TEST_F(Hand, ReadsLinesAsTheyCome) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  HandInput input(ends[0]);
  input.poll(simulation_, Nanoseconds(0));
  ASSERT_EQ(::write(ends[1], "1 0.5 0.1", 9), 9);
  input.poll(simulation_, Nanoseconds(0));
  EXPECT_FALSE(unit().plant().is_held_by_hand());
  ASSERT_EQ(::write(ends[1], "\n", 1), 1);
  input.poll(simulation_, Nanoseconds(0));
  EXPECT_DOUBLE_EQ(angle_at(milliseconds(100)), 0.5);
  ::close(ends[1]);
  input.poll(simulation_, milliseconds(100));
  input.poll(simulation_, milliseconds(100));
  EXPECT_DOUBLE_EQ(angle_at(milliseconds(300)), 0.5);
  ::close(ends[0]);
}

/// A Furuta pendulum whose second encoder is absolute, and whose clock ran before it was simulated.
class TwoJoints : public ::testing::Test {
 protected:
  void start(const HandSettings& hand) {
    SimulationSettings settings;
    settings.unit.encoder[1].absolute = true;
    settings.unit.clock_start_us = 7'000'000;
    settings.unit.hand = hand;
    simulation_.emplace(settings,
                        Plant(std::make_unique<FurutaModel>(FurutaParameters{}), {{0.0, 1.0}, {}}),
                        Nanoseconds(0), [this](const TrueState& truth) { truth_ = truth; });
  }
  const TrueState& at(milliseconds time) {
    simulation_->advance_to(time);
    return truth_;
  }
  void write(const test_support::WireBytes& message, milliseconds time) {
    simulation_->unit().receive(test_support::frame_of(message), time);
  }
  void start_stream(std::uint16_t sequence, milliseconds time) {
    write(test_support::message_of(hello_head{PROTOCOL_VERSION, LAYOUT_HASH, sequence}), time);
    write(test_support::message_of(configure_request{sequence, STREAM_ON, 1, 10, {}}), time);
  }
  void command(milliseconds time) {
    write(test_support::message_of(command_request{1, 0, 0, 1, {}}, 1), time);
  }

  std::optional<UnitSimulation> simulation_;
  TrueState truth_;
};

// After a reset an incremental encoder counts from its position then, an absolute one as before.
// The unit's clock starts at zero when it has booted, and is silent until then.
TEST_F(TwoJoints, CountFromTheResetUnlessTheirEncoderIsAbsolute) {
  start({});
  EXPECT_EQ(at(milliseconds(100)).unit_time_us, 7'100'000U);
  SimulatedUnit& unit = simulation_->unit();
  unit.turn_by_hand(0, 0.5, milliseconds(100), milliseconds(100));
  at(milliseconds(300));
  unit.turn_by_hand(1, 2.0, milliseconds(100), milliseconds(300));
  at(milliseconds(500));
  EXPECT_EQ(truth_.encoder_counts[0], 326);   // 0.5 rad of 4096 counts a turn
  EXPECT_EQ(truth_.encoder_counts[1], 1304);  // 2 rad
  unit.reset(milliseconds(500));
  EXPECT_EQ(at(milliseconds(549)).time, milliseconds(500)) << "boots for 50 ms";
  EXPECT_EQ(at(milliseconds(550)).unit_time_us, 0U);
  EXPECT_EQ(truth_.encoder_counts[0], 0);
  EXPECT_EQ(truth_.encoder_counts[1], 1304);
  EXPECT_EQ(unit.counters().resets, 1U);
  unit.turn_by_hand(0, 1.0, milliseconds(100), milliseconds(600));
  EXPECT_EQ(at(milliseconds(800)).encoder_counts[0], 326);
  unit.reset(milliseconds(800));
  EXPECT_EQ(at(milliseconds(850)).encoder_counts[0], 0) << "from the second reset";
  EXPECT_EQ(unit.counters().resets, 2U);
}

// The hand restores the initial state at the start of each stream, and lets go hold_time later or
// that long after the first command, whatever commands follow.
TEST_F(TwoJoints, AreReleasedAfterTheHoldTimeOfEachStream) {
  using Release = HandSettings::ReleaseTime;
  for (const Release release : {Release::kAfterStreamStart, Release::kAfterFirstCommand}) {
    start({release, milliseconds(200)});
    std::uint64_t releases = 0;
    for (const milliseconds begin : {milliseconds(1000), milliseconds(3000)}) {
      at(begin);
      command(begin);  // of no stream, or of the one before
      start_stream(static_cast<std::uint16_t>(begin.count()), begin);
      const bool waits = release == Release::kAfterFirstCommand;
      EXPECT_EQ(at(begin + milliseconds(199)).held, true);
      EXPECT_DOUBLE_EQ(truth_.state.angle_rad[1], 1.0);
      EXPECT_EQ(at(begin + milliseconds(201)).held, waits);
      command(begin + milliseconds(300));
      command(begin + milliseconds(400));
      EXPECT_EQ(at(begin + milliseconds(499)).held, waits);
      EXPECT_FALSE(at(begin + milliseconds(501)).held);
      command(begin + milliseconds(600));
      EXPECT_LT(std::abs(at(begin + milliseconds(1000)).state.angle_rad[1] - 1.0), 4.0);
      EXPECT_NE(truth_.state.angle_rad[1], 1.0);
      EXPECT_EQ(simulation_->unit().counters().releases, ++releases);
    }
  }
}

class MiswiredHand : public Hand {
 protected:
  MiswiredHand() : Hand({.count_factor = -0.25, .drift_counts_per_s = 8.0}) {}
};

TEST_F(MiswiredHand, CountsOtherwiseThanDescribed) {
  unit().turn_by_hand(0, 0.5 * std::numbers::pi, milliseconds(100), Nanoseconds(0));
  angle_at(milliseconds(1000));
  EXPECT_EQ(truth_.encoder_counts[0], -256 + 8);
}

}  // namespace
}  // namespace firmware_iface::sim
