#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "daq/config/rig_config.hpp"
#include "daq/console/unit_connection.hpp"
#include "proto/text/files.hpp"
#include "tests/daq/simulated_rig.hpp"
#include "tests/support/alloc_counter.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"

namespace daq {
namespace {

using firmware_iface::InertialReadings;
using test_support::expect_parts;
using test_support::refusal;
namespace sim = firmware_iface::sim;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

InertialLimits make_limits(bool stops_run) {
  return {.sensor = "imu",
          .stops_run = stops_run,
          .missing_s_max = 0.0055,  // between two samples
          .stuck_s_max = 0.0105,
          .saturated_s_max = 0.0205,
          .counts_max = {100, 100, 100, 1000, 1000, 1000}};
}

/// A monitor of one sensor, advanced by one millisecond at a time.
class Watch {
 public:
  explicit Watch(const InertialLimits& limits = make_limits(true)) : Watch(std::vector{limits}) {}
  explicit Watch(const std::vector<InertialLimits>& limits) : monitor_(limits) {}

  /// @param counts  of one axis, about x unless stated; the other axes are constant
  void pass(bool is_read, int counts, bool moves, std::size_t axis = 0) {
    now_.time_s += 1e-3;
    if (moves) now_.joint[0].angle_rad += 0.01;
    InertialReadings reading;
    reading.sensors = is_read ? 1 : 0;
    reading.counts[0] = {};
    reading.counts[0][axis] = static_cast<std::int16_t>(counts);
    monitor_.add(now_, reading);
  }
  bool has(InertialFault fault, std::size_t sensor = 0) const {
    InertialMonitor::DetectedFault finding;
    return monitor_.has(sensor, fault, finding);
  }
  Observation& now() { return now_; }

 private:
  InertialMonitor monitor_;
  Observation now_;
};

// Each fault starts just after its time limit and ends with its cause, and no other fault appears.
TEST(InertialMonitor, MissingAfterItsTimeAndBackWithAReading) {
  Watch watch;
  watch.pass(true, 1, true);
  for (int k = 0; k < 5; ++k) watch.pass(false, 0, true);
  EXPECT_FALSE(watch.has(InertialFault::kMissing));
  watch.pass(false, 0, true);
  EXPECT_TRUE(watch.has(InertialFault::kMissing));
  watch.pass(true, 2, true);
  EXPECT_FALSE(watch.has(InertialFault::kMissing));
  EXPECT_FALSE(watch.has(InertialFault::kStuck));
}

// A sensor without any reading is missing from the first sample on.
TEST(InertialMonitor, MissingFromTheFirstSampleOn) {
  Watch watch;
  for (int k = 0; k < 7; ++k) watch.pass(false, 0, false);
  EXPECT_TRUE(watch.has(InertialFault::kMissing));
}

TEST(InertialMonitor, StuckOnlyWhileTheRigMoves) {
  Watch watch;
  for (int k = 0; k < 50; ++k) watch.pass(true, 7, false);
  EXPECT_FALSE(watch.has(InertialFault::kStuck)) << "at rest equal counts are right";
  for (int k = 0; k < 10; ++k) watch.pass(true, 7, true);
  EXPECT_FALSE(watch.has(InertialFault::kStuck));
  watch.pass(true, 7, true);
  EXPECT_TRUE(watch.has(InertialFault::kStuck));
  watch.pass(true, 8, true);
  EXPECT_FALSE(watch.has(InertialFault::kStuck));
  Watch last;
  for (int k = 0; k < 12; ++k) {
    EXPECT_FALSE(last.has(InertialFault::kStuck));
    last.now().joint[kJointsMax - 1].angle_rad += 0.01;
    last.pass(true, 7, false);
  }
  EXPECT_TRUE(last.has(InertialFault::kStuck)) << "any joint may move";
}

TEST(InertialMonitor, EachSensorHasItsOwnLimits) {
  InertialLimits patient = make_limits(true);
  patient.missing_s_max = 0.0085;
  Watch watch(std::vector{make_limits(true), patient});
  for (int k = 0; k < 8; ++k) watch.pass(false, 0, false);
  EXPECT_TRUE(watch.has(InertialFault::kMissing, 0));
  EXPECT_FALSE(watch.has(InertialFault::kMissing, 1));
  for (int k = 0; k < 2; ++k) watch.pass(false, 0, false);
  EXPECT_TRUE(watch.has(InertialFault::kMissing, 1));
}

// An axis without a reading has counts beyond the range, but is not saturated.
TEST(InertialMonitor, SaturatedOnEachAxisThatIsRead) {
  for (std::size_t axis = 0; axis < INERTIAL_AXES; ++axis) {
    for (const int counts : {axis < 3 ? 100 : 1000, axis < 3 ? 99 : 999, int{INERTIAL_NOT_READ}}) {
      Watch watch;
      for (int k = 0; k < 30; ++k) watch.pass(true, counts, false, axis);
      EXPECT_EQ(watch.has(InertialFault::kSaturated), counts % 100 == 0) << axis << ' ' << counts;
    }
  }
}

TEST(InertialMonitor, SaturatedAtBothEnds) {
  for (const int end : {100, -100}) {
    Watch watch;
    for (int k = 0; k < 30; ++k) watch.pass(true, end - (end > 0 ? 1 : -1) * (1 + k % 2), true);
    EXPECT_FALSE(watch.has(InertialFault::kSaturated)) << "a count short of it";
    for (int k = 0; k < 20; ++k) watch.pass(true, end, true);
    EXPECT_FALSE(watch.has(InertialFault::kSaturated));
    watch.pass(true, end, true);
    EXPECT_TRUE(watch.has(InertialFault::kSaturated));
    watch.pass(true, 0, true);
    EXPECT_FALSE(watch.has(InertialFault::kSaturated));
  }
}

TEST(InertialMonitor, NumbersThatAreNoneAreFaults) {
  InertialLimits limits = make_limits(true);
  limits.missing_s_max = limits.stuck_s_max = limits.saturated_s_max = kNaN;
  Watch watch(limits);
  watch.pass(true, 1, true);
  for (const InertialFault fault :
       {InertialFault::kMissing, InertialFault::kStuck, InertialFault::kSaturated}) {
    EXPECT_TRUE(watch.has(fault));
  }
  Watch timeless;
  timeless.pass(true, 1, true);
  timeless.now().time_s = kNaN;
  timeless.pass(false, 1, true);
  EXPECT_TRUE(timeless.has(InertialFault::kMissing));
}

struct SensorRun {
  sim::SimulationSettings simulation = simulation_settings();
  LoopSettings loop = furuta_settings();
  SafetyLimits limits = furuta_limits();

  explicit SensorRun(bool stops_run) {
    simulation.unit.inertial_count = 1;
    sim::InertialSensorSettings& sensor = simulation.unit.inertial[0];
    sensor.gyro_noise = 0.01;
    loop.inertial_count = 1;
    for (std::size_t axis = 0; axis < 6; ++axis) {
      loop.inertial[0].si_per_count[axis] =
          1.0 / (axis < 3 ? sensor.gyro_counts : sensor.accel_counts);
      loop.inertial[0].counts_max[axis] = 32767;
    }
    limits.inertial = {make_limits(stops_run)};
    limits.inertial[0].counts_max = loop.inertial[0].counts_max;
  }
  Scenario scenario{"step", Step{.amplitude = 1.0, .start_s = 0.0}, 0.5};
};

const Trip* run(SimulatedRig& rig, const std::function<void(SimulatedRig&, int)>& disturb = {}) {
  rig.run(disturb);
  rig.finish();
  return rig.loop().trip();
}

// Every reading is recorded once, under the time of its sample, including the last one.
TEST(InertialLoop, RecordsEveryReadingWithItsSample) {
  SensorRun setup(true);
  SimulatedRig rig(setup.scenario, setup.loop, setup.simulation, setup.limits);
  EXPECT_EQ(run(rig), nullptr);
  const MemorySink& reported = rig.sink();
  ASSERT_EQ(reported.inertial.size(), reported.samples.size());
  for (std::size_t k = 0; k < reported.inertial.size(); ++k) {
    EXPECT_EQ(reported.inertial[k].sequence, reported.samples[k].sequence);
    EXPECT_EQ(reported.inertial[k].timestamp_s, reported.samples[k].timestamp_s);
  }
  EXPECT_EQ(rig.supervisor().inertial_reading_count(0), reported.inertial.size());
  EXPECT_NEAR(reported.inertial[0].value[5], 9.82, 0.01) << "up along the arm's z";
}

// If the readings stop, the output is switched off where the rig file requests it. Otherwise the
// loss is reported once and the run continues.
TEST(InertialLoop, MissingSensorStopsTheRunIfConfigured) {
  for (const bool stops_run : {true, false}) {
    SCOPED_TRACE(stops_run);
    SensorRun setup(stops_run);
    setup.simulation.unit.inertial[0].dropout = 0.5;
    SimulatedRig rig(setup.scenario, setup.loop, setup.simulation, setup.limits);
    const Trip* trip = run(rig);
    EXPECT_EQ(trip != nullptr, stops_run);
    int reported = 0;
    for (const std::string& line : rig.said()) {
      reported += line.find("\"imu\" is missing") != std::string::npos;
    }
    EXPECT_EQ(reported, 1);
    if (!stops_run) continue;
    EXPECT_EQ(trip->cause, TripCause::kInertialMissing);
    EXPECT_EQ(trip->limit, 0.0055);
    EXPECT_NEAR(trip->value, 0.006, 1e-4);  // the first sample beyond it
    EXPECT_GT(trip->time_s, 0.01);
    EXPECT_TRUE(rig.sim_unit().is_tripped());
    EXPECT_EQ(rig.sim_unit().output_V(), 0.0);
    const proto::Event* event = rig.sink().find("inertial sensor missing");
    ASSERT_NE(event, nullptr);
    EXPECT_EQ(event->channel, "imu");
    expect_parts(event->text, {"imu: time without a reading", "allowed 0.0055 s"});
  }
}

TEST(InertialLoop, SaturatedSensorStopsTheRunIfConfigured) {
  SensorRun setup(true);
  setup.simulation.unit.inertial[0].accel_range = 5.0;  // less than gravity
  const auto most = static_cast<std::int16_t>(5.0 * setup.simulation.unit.inertial[0].accel_counts);
  setup.limits.inertial[0].counts_max[5] = setup.loop.inertial[0].counts_max[5] = most;
  SimulatedRig rig(setup.scenario, setup.loop, setup.simulation, setup.limits);
  const Trip* trip = run(rig);
  ASSERT_NE(trip, nullptr);
  EXPECT_EQ(trip->cause, TripCause::kInertialSaturated);
  EXPECT_EQ(rig.sink().inertial[0].saturated, 1U << 5);
}

// Of two sensors one is faulty, and the faults of one end the run.
TEST(InertialLoop, EachSensorStopsTheRunByItsOwnLimits) {
  for (const std::size_t faulty : {0U, 1U}) {
    for (const std::size_t stopping : {0U, 1U}) {
      SCOPED_TRACE(::testing::Message() << faulty << ' ' << stopping);
      SensorRun setup(false);
      setup.simulation.unit.inertial_count = 2;
      setup.simulation.unit.inertial[1] = setup.simulation.unit.inertial[0];
      setup.simulation.unit.inertial[faulty].dropout = 0.5;
      setup.loop.inertial_count = 2;
      setup.loop.inertial[1] = setup.loop.inertial[0];
      setup.limits.inertial.push_back(setup.limits.inertial[0]);
      setup.limits.inertial[stopping].stops_run = true;
      SimulatedRig rig(setup.scenario, setup.loop, setup.simulation, setup.limits);
      const Trip* trip = run(rig);
      ASSERT_EQ(trip != nullptr, faulty == stopping);
      if (trip == nullptr) continue;
      EXPECT_EQ(trip->cause, TripCause::kInertialMissing);
      EXPECT_EQ(trip->joint, faulty);
    }
  }
}

// A sensor whose readings stop at the end of its range has two faults.
TEST(InertialLoop, ReportsSeveralFaultsOfASensor) {
  SensorRun setup(false);
  setup.simulation.unit.inertial[0].accel_range = 5.0;  // less than gravity
  setup.simulation.unit.inertial[0].dropout = 0.5;
  setup.limits.inertial[0].counts_max[5] =
      static_cast<std::int16_t>(5.0 * setup.simulation.unit.inertial[0].accel_counts);
  SimulatedRig rig(setup.scenario, setup.loop, setup.simulation, setup.limits);
  EXPECT_EQ(run(rig), nullptr);
  std::string said;
  for (const std::string& line : rig.said()) said += line;
  expect_parts(said, {"\"imu\" is missing", "\"imu\" is saturated"});
}

TEST(InertialLoop, TickDoesNotAllocate) {
  SensorRun setup(true);
  SimulatedRig rig(setup.scenario, setup.loop, setup.simulation, setup.limits);
  std::int64_t allocated = 0;
  rig.run(
      [&](SimulatedRig& here, int tick) {
        if (tick < 20) return;
        test_support::AllocCounter allocations;
        here.loop().tick();
        allocated += allocations.count();
      },
      100, 10);
  EXPECT_EQ(allocated, 0);
}

std::string rig_text(const std::string& in_unit, const std::string& in_safety,
                     const std::string& sensors = R"(
inertial_sensor { name: "imu" body: "B"
  gyroscope { counts_per_rad_per_s: 100 range_rad_per_s: 10 } }
inertial_sensor { name: "plain" body: "B" accelerometer {} }
)") {
  std::string text =
      proto::read_file(test_support::source_folder() + "/configs/rig-furuta.textproto");
  const auto insert = [&](const std::string& section, const std::string& more) {
    const std::size_t at = text.find("\n" + section + " {");
    ASSERT_NE(at, std::string::npos);
    text.insert(at + section.size() + 3, more);
  };
  insert("unit", in_unit);
  insert("safety", in_safety);
  return text + sensors;
}

TEST(InertialSensorConfig, ScalesAndLimitsAreReadInTheirPlaces) {
  const RigConfig rig = parse_rig_config(
      "r.textproto", rig_text(" inertial { sensor: \"imu\" divider: 4 }",
                              " inertial { sensor: \"imu\" missing_ms_max: 11 stuck_ms_max: 12 "
                              "saturated_ms_max: 13 }"));
  ASSERT_EQ(rig.inertial.size(), 1U);
  EXPECT_EQ(rig.inertial[0].name, "imu");
  EXPECT_EQ(rig.inertial[0].divider, 4);
  EXPECT_EQ(rig.inertial[0].scale.si_per_count[2], 0.01);
  EXPECT_EQ(rig.inertial[0].scale.si_per_count[3], 0.0) << "it has no accelerometer";
  EXPECT_EQ(rig.inertial[0].scale.counts_max[0], 999);
  ASSERT_EQ(rig.limits.inertial.size(), 1U);
  EXPECT_TRUE(rig.limits.inertial[0].stops_run);
  EXPECT_DOUBLE_EQ(rig.limits.inertial[0].missing_s_max, 0.011);
  EXPECT_DOUBLE_EQ(rig.limits.inertial[0].stuck_s_max, 0.012);
  EXPECT_DOUBLE_EQ(rig.limits.inertial[0].saturated_s_max, 0.013);
  firmware_iface::UnitDescription facts;
  facts.tick_rate_Hz = 1000.0;
  facts.inertial_count = 1;
  facts.inertial_ticks = {2, 0, 0, 0};
  EXPECT_EQ(compute_inertial_dividers(rig, facts)[0], 4);

  RigConfig reported =
      parse_rig_config("r.textproto", rig_text(" inertial { sensor: \"imu\" }", ""));
  EXPECT_FALSE(reported.limits.inertial[0].stops_run);
  struct Default {
    int ticks, divider;  // of the sensor and of the samples
    int samples;         // from one reading to the next, at whole readings
    double missing_s;    // three readings, at least 10 ms
  };
  for (const Default& made : {Default{2, 1, 2, 0.01},
                              {10, 1, 10, 0.03},
                              {10, 4, 5, 0.06},
                              {2, 4, 1, 0.012},
                              {3, 2, 3, 0.018}}) {
    SCOPED_TRACE(::testing::Message() << made.ticks << ' ' << made.divider);
    facts.inertial_ticks[0] = made.ticks;
    reported.divider = made.divider;
    EXPECT_EQ(compute_inertial_dividers(reported, facts)[0], made.samples);
    EXPECT_DOUBLE_EQ(
        fill_in_reading_time_limits(reported.limits, reported, facts).inertial[0].missing_s_max,
        made.missing_s);
  }
}

// Two sensors with both instruments, the second one limited: each axis has the scale and range of
// its own instrument, and each limit belongs to its own sensor.
TEST(InertialSensorConfig, EachAxisHasTheRangeOfItsInstrument) {
  const std::string sensors = R"(
inertial_sensor { name: "a" body: "B"
  gyroscope { counts_per_rad_per_s: 100 range_rad_per_s: 10 }
  accelerometer { counts_per_m_per_s2: 50 range_m_per_s2: 40 } }
inertial_sensor { name: "b" body: "B"
  gyroscope { counts_per_rad_per_s: 200 } accelerometer { counts_per_m_per_s2: 25 } }
)";
  const RigConfig rig = parse_rig_config(
      "r.textproto", rig_text(" inertial { sensor: \"b\" divider: 3 } inertial { sensor: \"a\" }",
                              " inertial { sensor: \"a\" stuck_ms_max: 12 }", sensors));
  ASSERT_EQ(rig.inertial.size(), 2U);
  const InertialSensorConfig& b = rig.inertial[0];
  const InertialSensorConfig& a = rig.inertial[1];
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.divider, 3);
  EXPECT_EQ(a.divider, 0);
  for (std::size_t axis = 0; axis < 6; ++axis) {
    const bool turns = axis < 3;
    EXPECT_EQ(a.scale.si_per_count[axis], turns ? 0.01 : 0.02) << axis;
    EXPECT_EQ(a.scale.counts_max[axis], turns ? 999 : 1998) << axis;
    EXPECT_EQ(b.scale.si_per_count[axis], turns ? 0.005 : 0.04) << axis;
    EXPECT_EQ(b.scale.counts_max[axis], INERTIAL_COUNTS_MAX) << axis;
    EXPECT_EQ(rig.limits.inertial[1].counts_max[axis], a.scale.counts_max[axis]);
  }
  EXPECT_FALSE(rig.limits.inertial[0].stops_run);
  EXPECT_TRUE(rig.limits.inertial[1].stops_run);
  EXPECT_DOUBLE_EQ(rig.limits.inertial[0].stuck_s_max, 0.1);
  EXPECT_DOUBLE_EQ(rig.limits.inertial[1].stuck_s_max, 0.012);
  EXPECT_DOUBLE_EQ(rig.limits.inertial[1].saturated_s_max, 0.1);
}

TEST(InertialSensorConfig, MistakesAreReported) {
  struct Case {
    const char* unit;
    const char* safety;
    std::vector<std::string> parts;
  };
  const Case cases[] = {
      {" inertial { sensor: \"imo\" }", "", {"unknown inertial sensor \"imo\""}},
      {" inertial { sensor: \"imu\" } inertial { sensor: \"imu\" }", "", {"listed twice"}},
      {" inertial { sensor: \"plain\" }",
       "",
       {"\"plain\" has no accelerometer", "rigcal-daq needs it"}},
      {"", " inertial { sensor: \"imu\" }", {"the unit reads no inertial sensor \"imu\""}},
      {" inertial { sensor: \"imu\" }",
       " inertial { sensor: \"imu\" } inertial { sensor: \"imu\" }",
       {"has limits twice"}},
      {" inertial { sensor: \"imu\" divider: 256 }", "", {"divider", "255"}},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.unit);
    SCOPED_TRACE(each.safety);
    const std::string message =
        refusal([&] { (void)parse_rig_config("r.textproto", rig_text(each.unit, each.safety)); });
    expect_parts(message, {"r.textproto:"});
    expect_parts(message, each.parts);
  }
}

}  // namespace
}  // namespace daq
