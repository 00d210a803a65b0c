#include <gtest/gtest.h>

#include <map>
#include <set>

#include "firmware_iface/link/baud_budget.hpp"
#include "tests/firmware_iface/scripted_unit.hpp"
#include "tests/firmware_iface/virtual_rig.hpp"
#include "tests/support/alloc_counter.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace firmware_iface;
using namespace std::chrono_literals;
using test_support::expect_parts;
using virtual_rig::settings_at;
using virtual_rig::VirtualRig;

sim::SimulationSettings with_sensors(int baud_rate, int count) {
  sim::SimulationSettings settings = settings_at(baud_rate);
  settings.unit.inertial_count = count;
  for (auto& sensor : settings.unit.inertial) sensor.joint = 1;
  return settings;
}

// Hanging at rest, gravity is along −x of the pendulum: the reading is −g in counts, and no rate.
TEST(InertialLink, ReadingsBelongToTheSampleTheyFollow) {
  sim::SimulationSettings settings = with_sensors(921'600, 2);
  settings.unit.inertial[1].divider = 5;
  VirtualRig rig(settings);
  rig.start({.inertial_divider = {1, 10}});
  std::map<int, std::set<std::uint64_t>> read_at;
  std::uint64_t last = 0;
  for (int k = 0; k < 100; ++k) {
    const UnitSample sample = rig.read();
    if (k > 0) {
      ASSERT_NE(sample.inertial.sensors, 0);
      EXPECT_EQ(sample.inertial.sequence, last);
      EXPECT_EQ(sample.inertial.unit_time_us, sample.unit_time_us - 1000);
      EXPECT_EQ(sample.inertial.counts[0][0], 0);
      EXPECT_NEAR(sample.inertial.counts[0][3] / settings.unit.inertial[0].accel_counts, -9.82,
                  0.5 / settings.unit.inertial[0].accel_counts);
      if (!sample.inertial.has(1)) {
        EXPECT_EQ(sample.inertial.counts[1][3], INERTIAL_NOT_READ);
      }
      for (const int sensor : {0, 1}) {
        if (sample.inertial.has(sensor)) read_at[sensor].insert(last);
      }
    }
    last = sample.sequence;
  }
  EXPECT_EQ(read_at[0].size(), 99U);
  ASSERT_GE(read_at[1].size(), 9U);
  for (const std::uint64_t sequence : read_at[1]) EXPECT_EQ(sequence % 10, 0U);
  EXPECT_EQ(rig.link->counters().inertial_unmatched, 0U);
}

TEST(InertialLink, CompactSamplesCarryThemToo) {
  VirtualRig rig(with_sensors(460'800, 1));
  rig.start({.compact = true, .inertial_divider = {1}});
  std::uint64_t last = rig.read().sequence;
  for (int k = 0; k < 600; ++k) {  // beyond the wrap of the compact sequence
    const UnitSample sample = rig.read();
    ASSERT_EQ(sample.lost_before, 0U);
    ASSERT_EQ(sample.inertial.sensors, 1);
    ASSERT_EQ(sample.inertial.sequence, last);
    last = sample.sequence;
  }
}

TEST(InertialLink, NothingIsSentUnlessRequested) {
  VirtualRig rig(with_sensors(921'600, 2));
  rig.start();
  for (int k = 0; k < 20; ++k) EXPECT_EQ(rig.read().inertial.sensors, 0);
  EXPECT_EQ(rig.link->counters().inertial_received, 0U);
  EXPECT_EQ(rig.link->facts().inertial_count, 2);
  EXPECT_EQ(rig.link->facts().inertial_ticks[0], 1);
}

// On a line that loses frames, every delivered reading belongs to its own sample. Readings whose
// sample was lost are counted.
TEST(InertialLink, ReadingsOfALostSampleAreLostWithIt) {
  sim::SimulationSettings settings = with_sensors(921'600, 1);
  settings.to_host.faults.seed = 5;
  settings.to_host.faults.frame_lost = 0.1;
  VirtualRig rig(settings);
  rig.start({.inertial_divider = {1}});
  std::set<std::uint64_t> received;
  std::uint64_t matched = 0;
  for (int k = 0; k < 2000; ++k) {
    const UnitSample sample = rig.read();
    if (sample.inertial.sensors != 0) {
      ++matched;
      EXPECT_TRUE(received.empty() || received.contains(sample.inertial.sequence));
    }
    received.insert(sample.sequence);
  }
  const LinkCounters& counters = rig.link->counters();
  EXPECT_GT(counters.samples_lost, 100U);
  EXPECT_GT(counters.inertial_unmatched, 100U);
  EXPECT_GT(matched, 1500U);
  EXPECT_GE(counters.inertial_received, counters.inertial_unmatched + matched);
}

TEST(InertialLink, DropoutsAreMissingAndTheRestStays) {
  sim::SimulationSettings settings = with_sensors(921'600, 2);
  settings.unit.inertial[0].dropout = 0.5;
  VirtualRig rig(settings);
  rig.start({.inertial_divider = {1, 1}});
  int first = 0, second = 0;
  rig.read();
  for (int k = 0; k < 1000; ++k) {
    const UnitSample sample = rig.read();
    first += sample.inertial.has(0);
    second += sample.inertial.has(1);
  }
  EXPECT_NEAR(first, 500, 80);  // five standard deviations of a binomial
  EXPECT_EQ(second, 1000);
}

// The table of PROTOCOL.md: a sample and all its readings must fit into its period.
TEST(InertialLink, BudgetAgreesWithTheProtocolsTable) {
  const auto most = [](int baud_rate, double rate_Hz, bool compact) {
    int count = -1;
    while (count < 4 && compute_baud_budget(baud_rate, {2, rate_Hz, compact, count + 1}).fits)
      ++count;
    return count;
  };
  EXPECT_EQ(compute_baud_budget(921'600, {2, 1000.0, false, 1}).frame_size_bytes, 52);
  EXPECT_EQ(compute_baud_budget(921'600, {2, 1000.0, false, 4}).frame_size_bytes, 88);
  EXPECT_EQ(compute_baud_budget(921'600, {2, 1000.0, true, 4}).frame_size_bytes, 79);
  EXPECT_EQ(most(921'600, 1000.0, false), 4);
  EXPECT_EQ(most(460'800, 1000.0, false), 0);
  EXPECT_EQ(most(460'800, 1000.0, true), 1);
  EXPECT_EQ(most(460'800, 500.0, false), 4);
  EXPECT_EQ(most(230'400, 1000.0, true), 0);
  EXPECT_EQ(most(230'400, 500.0, true), 1);
  EXPECT_EQ(most(230'400, 250.0, false), 4);
  const auto refused = check_baud_budget(460'800, {2, 1000.0, true, 3});
  ASSERT_FALSE(refused.ok());
  expect_parts(refused.error().detail, {"67 bytes per compact sample with 3 inertial sensors",
                                        "921600", "read at most 1 inertial sensors"});
}

// The control loop uses encoders only: with four inertial sensors samples come no later, and
// commands act after the same tick.
TEST(InertialLink, SamplesAreAsEarlyAsWithout) {
  for (const int count : {0, 4}) {
    SCOPED_TRACE(count);
    VirtualRig rig(with_sensors(921'600, 4));
    StreamSettings stream;
    for (int k = 0; k < count; ++k) stream.inertial_divider[static_cast<std::size_t>(k)] = 1;
    rig.start(stream);
    for (int k = 0; k < 50; ++k) {
      const UnitSample sample = rig.read();
      rig.link->write_command(std::array{0.0}, 20);
      if (k < 10) continue;  // the reply to CONFIGURE occupies the line for a while
      const double on_the_line_us = 30 * 10 / 0.9216;
      const auto late_us = static_cast<double>(sample.received.count()) / 1e3 -
                           static_cast<double>(sample.unit_time_us);
      EXPECT_NEAR(late_us, on_the_line_us, 60.0);  // unit's boot and end of last byte
    }
    EXPECT_EQ(rig.link->counters().command_delay_ticks_max, 1);
  }
}

TEST(InertialLink, ReadingDoesNotAllocate) {
  VirtualRig rig(with_sensors(921'600, 4));
  rig.start({.inertial_divider = {1, 1, 1, 1}});
  rig.read();
  test_support::AllocCounter allocations;
  for (int k = 0; k < 100; ++k) rig.read();
  EXPECT_EQ(allocations.count(), 0);
}

}  // namespace
