#include <gtest/gtest.h>
#include <unistd.h>

#include <numbers>

#include "firmware_iface/sim/plants.hpp"
#include "firmware_iface/sim/sim_server.hpp"

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
