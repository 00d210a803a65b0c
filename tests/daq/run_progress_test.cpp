#include "daq/console/run_progress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <numbers>
#include <sstream>

#include "tests/daq/simulated_rig.hpp"

// The messages that an operator reads during a run.

namespace daq {
namespace {

std::string delays(std::initializer_list<std::int64_t> counts, double tick_s = 1e-3) {
  DelayCounts delays{};
  std::copy(counts.begin(), counts.end(), delays.begin());
  return describe_command_delays(delays, tick_s);
}

// Rounding up would report that all commands were on time. A delay in ticks printed as milliseconds
// would be wrong for every unit that does not tick at 1 kHz.
TEST(DescribeDelays, NamesTheShareOnTimeAndTheLongest) {
  EXPECT_EQ(delays({}), "");
  EXPECT_EQ(delays({0, 500}), "all commands acted within 1 ms");
  EXPECT_EQ(delays({500}), "all commands acted within 1 ms");
  EXPECT_EQ(delays({0, 500}, 2e-3), "all commands acted within 2 ms");
  EXPECT_EQ(delays({0, 9999, 0, 1}), "99 % of commands acted within 1 ms, all within 3 ms");
  EXPECT_EQ(delays({0, 1, 999}), "0.1 % of commands acted within 1 ms, all within 2 ms");
  EXPECT_EQ(delays({0, 98, 1, 0, 0, 0, 0, 1}),
            "98 % of commands acted within 1 ms, 1 % after more than 6 ms");
  EXPECT_EQ(delays({0, 0, 0, 0, 0, 0, 0, 9}), "all commands acted after more than 6 ms");
}

/// A rig whose operator must hold joint 1, and one record of its loop.
class Holding {
 public:
  explicit Holding(const ReleaseSettings& release)
      : rig_(Scenario("release", Release(release), 10.0)) {
    record_.phase = RunPhase::kWaitingForHold;
    record_.observation.joint[1].valid = true;
  }

  void show(double reading, bool valid = true) {
    record_.observation.joint[1].angle_rad = reading;
    record_.observation.joint[1].valid = valid;
    ASSERT_TRUE(rig_.loop().records().try_push(record_));
    rig_.supervisor().poll();
    ++record_.sample.sequence;
  }
  void begin(RunPhase phase) { record_.phase = phase; }
  SimulatedRig& rig() { return rig_; }

 private:
  LoopRecord record_;
  SimulatedRig rig_;
};

ReleaseSettings upright() {
  return {.joint = 1, .joint_count = 2, .held_angle_rad = 3.14159, .held_tolerance_rad = 0.3};
}

// The prompt must name the joint, its target and its present angle, in degrees and without full
// turns. -178° instead of 182° would send the operator the wrong way. The recording holds the same
// sentence.
TEST(HoldPrompt, NamesJointTargetAndPresentAngle) {
  Holding holding(upright());
  holding.show(6.0 * std::numbers::pi + 0.05);
  const std::string prompt = "Hold joint \"pendulum\" at 180° ± 17° (now 3°), and keep it still.";
  ASSERT_EQ(holding.rig().said().size(), 1U);
  EXPECT_EQ(holding.rig().said()[0], prompt);
  ASSERT_NE(holding.rig().sink().find("waiting for hold"), nullptr);
  EXPECT_EQ(holding.rig().sink().find("waiting for hold")->text, prompt);
  EXPECT_EQ(holding.rig().supervisor().describe_held_joint(), "joint \"pendulum\" now 3°");
  holding.show(-6.0 * std::numbers::pi - 3.1);
  EXPECT_EQ(holding.rig().supervisor().describe_held_joint(), "joint \"pendulum\" now 182°");
  holding.show(0.0, /*valid=*/false);
  EXPECT_EQ(holding.rig().supervisor().describe_held_joint(), "joint \"pendulum\" no reading");
  EXPECT_EQ(holding.rig().said().size(), 1U) << "one line, however often the joint moves";
  holding.begin(RunPhase::kWaitingForRelease);
  holding.show(3.1);
  EXPECT_EQ(holding.rig().said().back(), "Held. Let go when ready.");
  EXPECT_EQ(holding.rig().supervisor().describe_held_joint(), "");
}

TEST(HoldPrompt, IsInMillimetresForAPrismaticJoint) {
  ReleaseSettings cart = upright();
  cart.slides = {false, true};
  cart.held_angle_rad = 0.25;
  cart.held_tolerance_rad = 0.0025;
  Holding holding(cart);
  holding.show(-7.00004);
  EXPECT_EQ(holding.rig().said().at(0),
            "Hold joint \"pendulum\" at 250.0 mm ± 2.5 mm (now -7000.0 mm), and keep it still.");
}

// The prompt has as many decimals as the tolerance needs.
TEST(HoldPrompt, RoundsAccordingToItsTolerance) {
  const std::pair<double, const char*> kPrompts[] = {
      {10.0, "at 250 mm ± 10 mm (now -1 mm)"},
      {9.9, "at 250.0 mm ± 9.9 mm (now -1.2 mm)"},
      {1.0, "at 250.0 mm ± 1.0 mm (now -1.2 mm)"},
      {0.99, "at 250.00 mm ± 0.99 mm (now -1.23 mm)"}};
  for (const auto& [tolerance_mm, text] : kPrompts) {
    ReleaseSettings cart = upright();
    cart.slides = {false, true};
    cart.held_angle_rad = 0.25;
    cart.held_tolerance_rad = 1e-3 * tolerance_mm;
    Holding holding(cart);
    holding.show(-0.001234);
    EXPECT_NE(holding.rig().said().at(0).find(text), std::string::npos) << holding.rig().said()[0];
  }
}

// On a terminal the reading is updated in place; elsewhere only whole lines are written.
TEST(HoldPrompt, IsRenewedOnATerminalOnly) {
  Holding holding(upright());
  holding.show(-0.0001);
  for (const bool terminal : {true, false}) {
    std::ostringstream out;
    RunProgress progress(out, terminal, 10.0);
    progress.show(holding.rig().supervisor());
    EXPECT_EQ(out.str().find("joint \"pendulum\" now 0°") != std::string::npos, terminal)
        << out.str();
    EXPECT_EQ(out.str().empty(), !terminal);
  }
}

}  // namespace
}  // namespace daq
