#include <gtest/gtest.h>

#include <cmath>

#include "firmware_iface/wire/message_type.h"
#include "tests/daq/simulated_rig.hpp"

// Every field that the supervisor writes has a value of its own. Catches a field that is taken from
// its neighbour, in another unit or not at all.

namespace daq {
namespace {

class Fields : public ::testing::Test {
 protected:
  void push(const LoopRecord& record) {
    ASSERT_TRUE(rig_.loop().records().try_push(record));
    rig_.supervisor().poll();
  }

  SimulatedRig rig_{Scenario("step", Step{.amplitude = 1.0, .start_s = 0.0}, 60.0)};
};

LoopRecord full_record() {
  LoopRecord record;
  record.sample.sequence = 7;
  record.sample.lost_before = 7;
  record.sample.unit_time_us = 123'456;
  record.sample.encoder_count = 2;
  record.sample.encoder_counts = {-11, 22};
  record.sample.encoders_valid = 0x03;
  record.sample.command[0] = -1.25;
  record.sample.command_sequence = 5;
  record.sample.fault_flags = 0x21;
  record.sample.unit_error_count = 9;
  record.observation.time_s = 0.75;
  record.observation.joint[0] = {0.5, 3.0, true};
  record.observation.joint[1] = {-1.5, 4.0, true};
  record.phase = RunPhase::kRunning;
  return record;
}

TEST_F(Fields, OfASampleComeFromTheUnitAndTheLoop) {
  LoopRecord record = full_record();
  record.sample.tripped = true;
  push(record);
  ASSERT_EQ(rig_.sink().samples.size(), 1U);
  const proto::Sample& sample = rig_.sink().samples[0];
  EXPECT_EQ(sample.timestamp_s, 0.75);
  EXPECT_EQ(sample.sequence, 7U);
  EXPECT_EQ(sample.device_time_us, 123'456);
  EXPECT_EQ(sample.channel_count, 2U);
  EXPECT_EQ(sample.angle_rad[0], 0.5);
  EXPECT_EQ(sample.angle_rad[1], -1.5);
  EXPECT_EQ(sample.encoder_counts[0], -11);
  EXPECT_EQ(sample.encoder_counts[1], 22);
  EXPECT_TRUE(sample.valid[0] && sample.valid[1]);
  EXPECT_EQ(sample.command[0], -1.25);
  EXPECT_EQ(sample.command_sequence, 5U);
  EXPECT_EQ(sample.fault_flags, 0x21U);
  EXPECT_EQ(sample.error_count, 9U);
  EXPECT_TRUE(sample.tripped);
  EXPECT_FALSE(sample.driving);
  record.sample.sequence = 8;
  record.sample.lost_before = 0;
  record.sample.tripped = false;
  record.sample.driving = true;
  record.sample.encoders_valid = 0x02;  // only the first channel is missing
  record.command_number = 3;
  push(record);
  const proto::Sample& second = rig_.sink().samples[1];
  EXPECT_FALSE(second.tripped);
  EXPECT_TRUE(second.driving);
  EXPECT_FALSE(second.valid[0]);
  EXPECT_TRUE(std::isnan(second.angle_rad[0]));
  EXPECT_TRUE(second.valid[1]);
  EXPECT_EQ(second.angle_rad[1], -1.5);
  ASSERT_EQ(rig_.sink().commands.size(), 1U) << "the first record answers with no command";
  EXPECT_EQ(rig_.sink().commands[0].command_sequence, 3U);
}

// An angle that is not a number is invalid, even if the unit reports it as valid.
TEST_F(Fields, OfASampleMarkANaNAngleInvalid) {
  LoopRecord record = full_record();
  record.observation.joint[1].angle_rad = HUGE_VAL;
  push(record);
  EXPECT_TRUE(rig_.sink().samples[0].valid[0]);
  EXPECT_FALSE(rig_.sink().samples[0].valid[1]);
  EXPECT_TRUE(std::isnan(rig_.sink().samples[0].angle_rad[1]));
}

TEST_F(Fields, OfAClockFitAreInTheirUnits) {
  push(full_record());
  firmware_iface::ClockFit fit;
  fit.valid = true;
  fit.rate_error_ppm = -40.0;
  fit.rate_sigma_ppm = 0.5;
  fit.residual_rms_us = 12.0;
  fit.unit_reference_us = 3'000'000;
  fit.host_reference = Nanoseconds(10'500'000'000);
  fit.blocks_used = 6;
  fit.blocks_rejected = 2;
  ASSERT_TRUE(rig_.loop().clock_fits().try_push(fit));
  rig_.supervisor().poll();
  ASSERT_EQ(rig_.sink().clock_fits.size(), 1U);
  const proto::ClockFit& reported = rig_.sink().clock_fits[0];
  EXPECT_EQ(reported.timestamp_s, 0.75);
  EXPECT_EQ(reported.rate_error_ppm, -40.0);
  EXPECT_EQ(reported.rate_error_ppm_sd, 0.5);
  EXPECT_DOUBLE_EQ(reported.offset_s, 7.5);
  EXPECT_DOUBLE_EQ(reported.residual_s_rms, 12e-6);
  EXPECT_EQ(reported.point_count, 6U);
  EXPECT_EQ(reported.rejected_count, 2U);
}

// The counters belong to the real-time thread; here the test is that thread.
TEST_F(Fields, OfTheLoopsStatisticsMatchItsCounters) {
  auto& counters = const_cast<LoopCounters&>(rig_.loop().counters());
  counters.samples = 11;
  counters.skipped_periods = 12;
  counters.dropped_records = 13;
  counters.timeouts = 14;
  counters.damaged_frames = 15;
  auto& jitter = const_cast<TimingHistogram&>(rig_.loop().arrival_jitter_histogram());
  auto& cycle = const_cast<TimingHistogram&>(rig_.loop().cycle_time_histogram());
  for (int k = 0; k < 98; ++k) jitter.add(Nanoseconds(4'000));
  jitter.add(Nanoseconds(54'000));
  jitter.add(Nanoseconds(104'000));
  cycle.add(Nanoseconds(20'000));
  cycle.add(Nanoseconds(30'000));
  LoopRecord record = full_record();
  record.observation.time_s = 1.25;
  push(record);
  ASSERT_FALSE(rig_.sink().stats.empty());
  const proto::LoopStats& reported = rig_.sink().stats.back();
  EXPECT_EQ(reported.timestamp_s, 1.25);
  EXPECT_EQ(reported.cycle_count, 11U);
  EXPECT_EQ(reported.skipped_periods, 12U);
  EXPECT_EQ(reported.dropped_samples, 13U);
  EXPECT_EQ(reported.link_timeouts, 14U);
  EXPECT_EQ(reported.damaged_frames, 15U);
  EXPECT_DOUBLE_EQ(reported.wakeup_us_mean, 5.5);  // (98 · 4 + 54 + 104) / 100
  EXPECT_DOUBLE_EQ(reported.wakeup_us_p99, 55.0);  // the upper edge of the bin from 54 to 55 µs
  EXPECT_DOUBLE_EQ(reported.wakeup_us_max, 104.0);
  EXPECT_DOUBLE_EQ(reported.cycle_us_mean, 25.0);
  EXPECT_DOUBLE_EQ(reported.cycle_us_max, 30.0);
}

// Statistics are written once per second of the rig's time, and at the end.
TEST_F(Fields, OfTheLoopsStatisticsComeOnceASecond) {
  LoopRecord record = full_record();
  record.sample.lost_before = 0;
  for (const double time_s : {0.0, 0.5, 0.999, 1.0, 1.5, 2.0}) {
    record.observation.time_s = time_s;
    ++record.sample.sequence;
    push(record);
  }
  EXPECT_EQ(rig_.sink().stats.size(), 2U);
  rig_.supervisor().finish(std::nullopt);
  EXPECT_EQ(rig_.sink().stats.size(), 3U);
}

// The black box holds each message once, with its direction, its bytes and its time since the run's
// first sample, in the order of transmission.
TEST(BlackBoxEvent, HoldsTheMessagesAsTheyPassed) {
  SafetyLimits limits = furuta_limits();
  limits.joint[0].angle_rad_max = 0.05;
  SimulatedRig rig(Scenario("step", Step{.amplitude = 1.0, .start_s = 0.0}, 60.0),
                   furuta_settings(), simulation_settings(), limits);
  rig.run();
  rig.finish();
  const proto::Event* trip = rig.sink().find("angle");
  const proto::Event* box = rig.sink().find("black box");
  ASSERT_NE(trip, nullptr);
  ASSERT_NE(box, nullptr);
  int from_unit = 0, to_unit = 0, after_trip = 0;
  double before_s = -1e9;
  for (const proto::LinkFrame& frame : box->last_frames) {
    ASSERT_FALSE(frame.frame.empty());
    const bool sample = frame.frame[0] == MESSAGE_SAMPLE;
    if (sample || frame.frame[0] == MESSAGE_COMMAND) {
      EXPECT_EQ(frame.direction,
                sample ? proto::LinkDirection::kFromUnit : proto::LinkDirection::kToUnit);
      ++(sample ? from_unit : to_unit);
    }
    EXPECT_GE(frame.timestamp_s, before_s);
    before_s = frame.timestamp_s;
    after_trip += frame.timestamp_s > trip->timestamp_s ? 1 : 0;
  }
  EXPECT_NEAR(from_unit, to_unit, 2);
  // The simulated line's clocks and delays differ by less than a few periods.
  EXPECT_NEAR(after_trip, static_cast<int>(BlackBox::kAfterTrip), 12);
}

}  // namespace
}  // namespace daq
