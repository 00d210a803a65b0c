#include "daq/console/run_progress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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
  LoopRecord& next() { return record_; }
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
  holding.next().phase = RunPhase::kWaitingForRelease;
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

// The view shows progress, then each joint and motor in its limits, then the targets of --until.
TEST(RunView, ShowsJointsAndMotorsInTheirLimits) {
  Holding holding(upright());
  holding.show(-0.0001);
  std::ostringstream out;
  RunProgress progress(out, true, {10.0, furuta_limits(), {"V"}});
  const UntilRule rule({{"B.J_yy", 0.1, "%"}});
  const std::vector<std::string> view = progress.make_view(holding.rig().supervisor(), rule);
  ASSERT_EQ(view.size(), 5U);
  EXPECT_NE(view[0].find("joint \"pendulum\" now 0°"), std::string::npos) << view[0];
  EXPECT_TRUE(view[1].starts_with("  joint arm ")) << view[1];
  EXPECT_NE(view[1].find("no reading"), std::string::npos) << "only the pendulum has a reading";
  EXPECT_TRUE(view[2].starts_with("  joint pendulum ")) << view[2];
  EXPECT_TRUE(view[2].ends_with("-0.000 rad")) << view[2];
  EXPECT_TRUE(view[3].starts_with("  motor arm ")) << view[3];
  EXPECT_TRUE(view[3].ends_with("0.000 V")) << view[3];
  EXPECT_EQ(view[4], "  B.J_yy: no estimate yet (target 0.1 %)");
}

// Progress counts from the start of the scenario, losses are those of the link and of the ring, and
// a motor shows the command that was sent.
TEST(RunView, ShowsTheProgressLossesAndSentCommands) {
  Holding holding(upright());
  holding.show(0.0);
  std::ostringstream out;
  RunProgress progress(out, true, {10.0, furuta_limits(), {"V"}});
  const UntilRule rule({});
  LoopRecord& next = holding.next();
  next.phase = RunPhase::kRunning;
  next.observation.time_s = 40.0;
  next.sample.sequence = 8;  // seven are missing, four of them in the ring
  next.sample.lost_before = 3;
  holding.show(0.0);
  progress.show(holding.rig().supervisor(), rule);
  next.observation.time_s = 45.0;
  next.requested[0] = 7.0;
  next.sent[0] = -1.5;
  holding.show(0.0);
  const std::vector<std::string> view = progress.make_view(holding.rig().supervisor(), rule);
  EXPECT_EQ(view[0], "  [###############...............] 5.0 of 10 s  3 samples, 7 lost");
  EXPECT_TRUE(view[3].ends_with("-1.500 V")) << view[3];
}

TEST(RunView, MarksTheValueInItsRange) {
  EXPECT_EQ(format_range_bar(0.0, -1.0, 1.0, 5), "|--o--|");
  EXPECT_EQ(format_range_bar(-1.0, -1.0, 1.0, 5), "|o----|");
  EXPECT_EQ(format_range_bar(1.0, -1.0, 1.0, 5), "|----o|");
  EXPECT_EQ(format_range_bar(1.1, -1.0, 1.0, 5), "|---->|");
  EXPECT_EQ(format_range_bar(-1.1, -1.0, 1.0, 5), "|<----|");
  EXPECT_EQ(format_range_bar(NAN, -1.0, 1.0, 5), "|-----|");
  EXPECT_EQ(format_range_bar(0.0, 0.0, 0.0, 5), "|-----|");
}

// In a pipe, the view would be noise: lines only, and without targets none.
TEST(RunView, IsForTerminalsOnly) {
  Holding holding(upright());
  holding.show(-0.0001);
  for (const bool has_target : {false, true}) {
    std::ostringstream out;
    RunProgress progress(out, false, {10.0, furuta_limits(), {"V"}});
    const UntilRule rule(has_target ? std::vector<proto::LiveTarget>{{"B.J_yy", 0.1, "%"}}
                                    : std::vector<proto::LiveTarget>{});
    progress.show(holding.rig().supervisor(), rule);
    progress.show(holding.rig().supervisor(), rule);
    progress.finish();
    EXPECT_EQ(out.str(), has_target ? "0.0 s: B.J_yy: no estimate yet (target 0.1 %)\n" : "");
  }
}

}  // namespace
}  // namespace daq
