#include <gtest/gtest.h>

#include <map>

#include "tests/daq/simulated_rig.hpp"
#include "tests/support/wire_messages.hpp"

// Why a run ends: a unit that does not answer, or one that was replaced or restarted. Also the
// loop's counters.

namespace daq {
namespace {

Scenario ending_drive() { return {"step", Step{.amplitude = 1.0, .start_s = 0.0}, 60.0}; }

// Samples that contradict the stream belong to another stream, because the unit restarted. The run
// must end with that cause and not with silence.
TEST(LoopEnds, WhenTheUnitIsInAnotherStream) {
  SimulatedRig rig(ending_drive());
  int last_tick = 0;
  rig.run(
      [&](SimulatedRig& r, int tick) {
        last_tick = tick;
        if (tick != 400) return;
        sample_report report{};
        report.sequence = 40'000;
        const auto message = test_support::message_of(report, {2, 1, false});
        for (int k = 0; k < 8; ++k) {
          r.simulation().to_host().push(test_support::frame_of(message), r.transport().now());
        }
      },
      1000);
  ASSERT_NE(rig.loop().trip(), nullptr);
  EXPECT_EQ(rig.loop().trip()->cause, TripCause::kUnitRestarted);
  EXPECT_LE(last_tick, 401) << "ends the run at once";
  EXPECT_NEAR(rig.loop().trip()->time_s, 0.4, 2e-3);
  EXPECT_LT(rig.loop().trip()->value, 3e-3) << "since the last good sample";
  EXPECT_EQ(rig.loop().trip()->limit, furuta_limits().staleness_s_max);
}

// A command that the transport did not accept is counted as not sent.
TEST(LoopCounts, CommandsThatTheTransportDidNotTake) {
  SimulatedRig rig(ending_drive());
  int last_tick = 0;
  rig.run([&](SimulatedRig& r, int tick) {
    last_tick = tick;
    if (tick != 400) return;
    EXPECT_EQ(r.loop().counters().unsent_commands.load(), 0);
    r.transport().close();
  });
  EXPECT_EQ(last_tick, 400) << "a closed port ends the run at once";
  EXPECT_GT(rig.loop().counters().unsent_commands.load(), 0);
  ASSERT_NE(rig.loop().trip(), nullptr);
  EXPECT_EQ(rig.loop().trip()->cause, TripCause::kPortClosed);
}

LoopSettings ending_settings() {
  LoopSettings settings = furuta_settings();
  settings.host_paced = true;
  return settings;
}

// Periods in which the host paused are skipped and counted, not caught up.
TEST(LoopCounts, PeriodsThatAPacingHostSkipped) {
  SimulatedRig rig({"step", Step{.amplitude = 1.0, .start_s = 0.0}, 0.3}, ending_settings());
  rig.run([](SimulatedRig& r, int tick) {
    if (tick == 200) r.abandon(std::chrono::milliseconds(5));
  });
  EXPECT_EQ(rig.loop().trip(), nullptr);
  EXPECT_GE(rig.loop().counters().skipped_periods.load(), 4);
  EXPECT_LE(rig.loop().counters().skipped_periods.load(), 6);
}

// Each recorded command was sent with this number, value and flag, whoever paces and however late
// samples arrive. Unless the
// host paces a bad line, each sample has its command.
TEST(LoopCounts, TheCommandsAsTheyWereSent) {
  SafetyLimits limits = furuta_limits();
  limits.staleness_s_max = 0.5;
  for (const bool host_paced : {false, true}) {
    for (const double delayed : {0.0, 0.2}) {
      SCOPED_TRACE(::testing::Message() << host_paced << delayed);
      LoopSettings settings = furuta_settings();
      settings.host_paced = host_paced;
      SimulatedRig rig({"multisine", Multisine{.tones = {{1.0, 7.0, 0.0}}}, 0.5}, settings,
                       simulation_settings(), limits);
      std::map<std::uint64_t, command_request> sent;
      rig.line().on_command = [&](const command_request& ask) { sent[ask.sequence] = ask; };
      rig.simulation().to_host().set_faults(
          {.seed = 3, .frame_delayed = delayed, .delay_max = std::chrono::milliseconds(4)});
      rig.run();
      rig.supervisor().poll();
      EXPECT_EQ(rig.loop().trip(), nullptr);
      EXPECT_EQ(rig.loop().counters().timeouts.load() > 100, delayed > 0.0);
      for (const proto::Command& command : rig.sink().commands) {
        const auto found = sent.find(command.command_sequence);
        if (found == sent.end()) continue;  // the last one of a pacing host
        ASSERT_EQ(command.flags, found->second.flags) << command.command_sequence;
        ASSERT_NEAR(command.command[0], found->second.command_q15[0] * 10.0 / 32767.0, 2e-4);
      }
      EXPECT_GT(rig.sink().commands.size(), 400U);
      if (!host_paced || delayed == 0.0) {
        EXPECT_EQ(rig.sink().commands.size(), rig.sink().samples.size());
      }
    }
  }
}

// Accepts a hundred samples and then none.
class FullSink final : public MemorySink {
 public:
  proto::Status write(const proto::RecordingMessage& message) override {
    if (!std::holds_alternative<proto::Sample>(message) || samples.size() < 100) {
      return MemorySink::write(message);
    }
    ++refused_count;
    return proto::Error{proto::ErrorCode::kDiskFull, "run.mcap: no space"};
  }

  int refused_count = 0;
};

// If recording fails, the run must end.
TEST(LoopEnds, WhenTheRecorderCannotGoOn) {
  FullSink sink;
  SimulatedRig rig(ending_drive(), furuta_settings(), simulation_settings(), furuta_limits(),
                   &sink);
  rig.run({}, 2000);
  EXPECT_TRUE(rig.supervisor().must_stop());
  EXPECT_LT(sink.refused_count, 100);
  ASSERT_TRUE(rig.supervisor().storage_error().has_value());
  EXPECT_EQ(rig.supervisor().storage_error()->detail, "run.mcap: no space");
}

}  // namespace
}  // namespace daq
