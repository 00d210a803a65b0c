#include "daq/console/motor_trial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <thread>

#include "daq/console/unit_connection.hpp"
#include "tests/daq/commission_rig.hpp"

// One test push of a motor and what it records, on a simulated unit in virtual time.

namespace daq {
namespace {

/// Pushes joint 0 for 0.2 s at 1 V.
MotorTrial push_arm(CommissionRig& rig, const std::function<void()>& alarm) {
  const RigConfig config = rig.rig();
  BlackBox black_box;
  firmware_iface::UnitLink link(rig.line(), &black_box);
  EXPECT_TRUE(link.connect().ok());
  EXPECT_TRUE(link.start_stream(make_stream_settings(config, link.facts())).ok());
  const TestPushSettings push{.joint_count = 2,
                              .level = 1.0,
                              .push_s_max = 0.2,
                              .motion_rad = 10.0,
                              .other_motion_rad = 10.0};
  return run_test_push(config, link, black_box, push, 0, rig.stop(), alarm);
}

// A pendulum that swings by 100 counts and back. Its largest motion counts, not the last one.
TEST(MotorTrial, RecordsTheLargestMotionOfEachJoint) {
  CommissionRig rig;
  int samples = 0;
  rig.line().on_sample = [&](sample_report& report) {
    const int phase = ++samples % 400;
    report.encoder_counts[1] = std::min(phase, 400 - phase) / 2;
  };
  const MotorTrial trial = push_arm(rig, [] { ADD_FAILURE() << "the unit obeys"; });
  EXPECT_FALSE(trial.trip.has_value());
  EXPECT_GT(trial.motion_rad.at(0), 1e-3);
  EXPECT_NEAR(trial.motion_rad.at(1), 100 * 2.0 * std::numbers::pi / 4096.0, 5e-3);
}

// The rig's limit of the command also holds for a level above it.
TEST(MotorTrial, KeepsTheCommandWithinTheRigsLimit) {
  for (const double limit : {0.5, 10.0}) {
    CommissionRig rig([&](Mistakes& m) {
      m.edit_rig_text("command_max: 10", "command_max: " + std::to_string(limit));
    });
    const MotorTrial trial = push_arm(rig, [] {});
    double largest = 0.0;
    for (const TestPushSample& sample : trial.samples) {
      largest = std::max(largest, std::abs(sample.command));
    }
    EXPECT_NEAR(largest, std::min(limit, 1.0), 5e-3);
  }
}

// A unit that goes on driving after a trip, for as long as a few polls of the recorder take.
TEST(MotorTrial, GivesOneAlarm) {
  CommissionRig rig([](Mistakes& m) {
    m.edit_rig_text("speed_rad_per_s_max: 40", "speed_rad_per_s_max: 0.1 jump_rad_max: 0.4");
  });
  std::atomic<int> alarms(0);
  int after_alarm = 0;
  rig.line().on_command = [&](command_request& command) {
    if (command.flags != COMMAND_TRIP || after_alarm > 40) return;
    command.flags = COMMAND_ENABLE;
    command.ttl_ms = 100;
    command.command_q15[0] = 1000;
    if (alarms.load() == 0) return;
    ++after_alarm;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  const MotorTrial trial = push_arm(rig, [&] { ++alarms; });
  ASSERT_TRUE(trial.trip.has_value());
  EXPECT_EQ(trial.trip->cause, TripCause::kSpeed);
  EXPECT_EQ(alarms.load(), 1);
}

}  // namespace
}  // namespace daq
