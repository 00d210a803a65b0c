#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/daq/simulated_rig.hpp"

// The supervisor in random runs, against a model of a few lines, and with sinks that fail.

namespace daq {
namespace {

enum class Fate { kRecorded, kLostOnLink, kLostInRing };

/// A run of records that a test makes, and what the supervisor must write about it.
struct RecordedRun {
  explicit RecordedRun(std::uint64_t seed) : random(seed) {
    loop.inertial_count = one_of(INERTIAL_SENSORS_MAX + 1);
    for (InertialScale& scale : loop.inertial) {
      for (std::size_t axis = 0; axis < INERTIAL_AXES; ++axis) {
        scale.si_per_count[axis] = one_of(3) == 0 ? 0.0 : 0.25;
        scale.counts_max[axis] = 100;
      }
    }
    limits.motor.resize(one_of(3), limits.motor[0]);
  }

  std::uint64_t one_of(std::uint64_t count) { return random() % count; }

  /// Returns the next record after a random loss, and adds what must be written.
  LoopRecord make_record() {
    const std::uint64_t missing = one_of(3) == 0 ? one_of(6) : 0;
    LoopRecord record;
    record.sample.lost_before = one_of(2) == 0 ? missing : one_of(8);
    const std::uint64_t on_link = std::min(missing, record.sample.lost_before);
    fates.insert(fates.end(), missing - on_link, Fate::kLostInRing);
    fates.insert(fates.end(), on_link, Fate::kLostOnLink);
    record.sample.sequence = fates.size();
    fates.push_back(Fate::kRecorded);
    record.observation.time_s = time_of(record.sample.sequence);
    record.sample.encoder_count = 2;
    if (one_of(4) == 0 || phases.empty()) phase = one_of(phase_names.size());
    record.phase = static_cast<RunPhase>(phase);
    if (phases.empty() || phases.back().first != phase)
      phases.push_back({phase, record.sample.sequence});
    if (one_of(2) == 0) ++command_number;
    record.command_number = command_number;
    firmware_iface::InertialReadings& readings = record.sample.inertial;
    readings.sequence = record.sample.sequence;
    readings.unit_time_us = static_cast<std::int64_t>(1000 * fates.size());
    readings.sensors = static_cast<std::uint8_t>(one_of(1U << loop.inertial_count));
    for (std::size_t i = 0; i < INERTIAL_SENSORS_MAX; ++i) {
      for (std::int16_t& counts : readings.counts[i]) {
        counts =
            std::array<std::int16_t, 7>{0, 99, 100, -100, -99, -7, INERTIAL_NOT_READ}[one_of(7)];
      }
      if (readings.has(static_cast<int>(i))) read.push_back({i, readings});
    }
    return record;
  }

  static double time_of(std::uint64_t sequence) {
    return 0.25 + 1e-3 * static_cast<double>(sequence);
  }

  std::mt19937_64 random;
  LoopSettings loop = furuta_settings();
  SafetyLimits limits = furuta_limits();
  std::vector<Fate> fates;  // of each sample of the unit
  std::uint64_t command_number = 0;
  static constexpr std::array phase_names = {
      "settling", "arming",  "waiting for hold", "waiting for release",
      "running",  "tripped", "finished"};
  std::uint64_t phase = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> phases;  // each change, at its sample
  std::vector<std::pair<std::size_t, firmware_iface::InertialReadings>> read;  // sensor, readings
};

void expect_reading(const proto::InertialReading& reading, std::size_t sensor,
                    const firmware_iface::InertialReadings& from, const InertialScale& scale) {
  EXPECT_EQ(reading.sensor, sensor);
  EXPECT_EQ(reading.sequence, from.sequence);
  EXPECT_DOUBLE_EQ(reading.timestamp_s, 1e-6 * static_cast<double>(from.unit_time_us));
  for (std::size_t axis = 0; axis < INERTIAL_AXES; ++axis) {
    const int counts = from.counts[sensor][axis];
    EXPECT_EQ(reading.counts[axis], counts);
    const bool is_missing = counts == INERTIAL_NOT_READ || scale.si_per_count[axis] == 0.0;
    if (is_missing) EXPECT_TRUE(std::isnan(reading.value[axis]));
    if (!is_missing) EXPECT_EQ(reading.value[axis], 0.25 * counts);
    EXPECT_EQ((reading.saturated >> axis & 1U) != 0,
              !is_missing && (counts == 100 || counts == -100));
  }
}

// Every sample of the unit is recorded or listed as a gap, exactly once and with its cause and
// time. Every command, every inertial reading and every change of the phase is recorded once. The
// run ends with losses that only the unit's final count shows.
TEST(SupervisorModel, RecordsEverySampleOrItsLossOnce) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    RecordedRun run(seed);
    SimulatedRig rig(Scenario("step", Step{.amplitude = 1.0, .start_s = 0.0}, 60.0), run.loop,
                     simulation_settings(), run.limits);
    const std::uint64_t record_count = run.one_of(20);
    for (std::uint64_t k = 0; k < record_count; ++k) {
      ASSERT_TRUE(rig.loop().records().try_push(run.make_record()));
      if (run.one_of(3) == 0) rig.supervisor().poll();
    }
    const auto in_ring =
        static_cast<std::uint64_t>(std::ranges::count(run.fates, Fate::kLostInRing));
    const std::uint64_t dropped_at_end = run.one_of(4), lost_at_end = run.one_of(8);
    // Some of the samples that seem lost in the ring were lost on the link before dropped records.
    const std::uint64_t uncounted = run.one_of(2) == 0 ? run.one_of(in_ring + 1) : 0;
    const_cast<LoopCounters&>(rig.loop().counters()).dropped_records =
        static_cast<std::int64_t>(in_ring - uncounted + dropped_at_end);
    const std::uint64_t received = run.fates.size();
    std::optional<std::uint64_t> sent;
    if (run.one_of(4) != 0) {
      sent = received + lost_at_end;
      const std::uint64_t dropped =
          std::min(dropped_at_end - std::min(uncounted, dropped_at_end), lost_at_end);
      run.fates.insert(run.fates.end(), dropped, Fate::kLostInRing);
      run.fates.insert(run.fates.end(), lost_at_end - dropped, Fate::kLostOnLink);
    }
    rig.supervisor().finish(sent);

    std::map<std::uint64_t, Fate> found;
    for (const proto::Sample& sample : rig.sink().samples) {
      EXPECT_TRUE(found.emplace(sample.sequence, Fate::kRecorded).second);
      EXPECT_EQ(sample.motor_count, std::max<std::size_t>(run.limits.motor.size(), 1));
    }
    for (const proto::Gap& gap : rig.sink().gaps) {
      EXPECT_GT(gap.sample_count, 0U);
      const bool is_at_start =
          record_count == 0 || rig.sink().samples[0].sequence > gap.first_sequence;
      EXPECT_NEAR(gap.timestamp_s, is_at_start ? 0.0 : RecordedRun::time_of(gap.first_sequence),
                  1e-9);
      for (std::uint64_t k = 0; k < gap.sample_count; ++k) {
        const bool is_on_link = gap.cause == proto::GapCause::kLink;
        EXPECT_TRUE(
            found
                .emplace(gap.first_sequence + k, is_on_link ? Fate::kLostOnLink : Fate::kLostInRing)
                .second);
      }
    }
    ASSERT_EQ(found.size(), run.fates.size());
    for (const auto& [sequence, fate] : found) EXPECT_EQ(fate, run.fates.at(sequence)) << sequence;
    const auto count = [&](Fate fate) {
      return static_cast<std::uint64_t>(std::ranges::count(run.fates, fate));
    };
    const SampleCounts& counts = rig.supervisor().sample_counts();
    EXPECT_EQ(counts.recorded, count(Fate::kRecorded));
    EXPECT_EQ(counts.lost_on_link, count(Fate::kLostOnLink));
    EXPECT_EQ(counts.lost_in_ring, count(Fate::kLostInRing));

    ASSERT_EQ(rig.sink().events.size(), run.phases.size());
    ASSERT_EQ(rig.said().size(), run.phases.size());
    for (std::size_t k = 0; k < run.phases.size(); ++k) {
      const auto& [phase, sequence] = run.phases[k];
      const proto::Event& event = rig.sink().events[k];
      EXPECT_EQ(event.kind, proto::EventKind::kScenario);
      EXPECT_EQ(event.name, RecordedRun::phase_names.at(phase));
      EXPECT_EQ(event.sequence, sequence);
      EXPECT_EQ(event.timestamp_s, RecordedRun::time_of(sequence));
      EXPECT_EQ(event.text, rig.said()[k]);
      EXPECT_EQ(event.text.empty(), event.name == "waiting for hold") << "no joint is held";
    }
    ASSERT_EQ(rig.sink().commands.size(), run.command_number);
    for (std::size_t k = 0; k < run.command_number; ++k) {
      EXPECT_EQ(rig.sink().commands[k].command_sequence, k + 1);
      EXPECT_EQ(rig.sink().commands[k].motor_count, rig.sink().samples[0].motor_count);
    }
    ASSERT_EQ(rig.sink().inertial.size(), run.read.size());
    std::array<std::uint64_t, INERTIAL_SENSORS_MAX> reading_counts{};
    for (std::size_t k = 0; k < run.read.size(); ++k) {
      const auto& [sensor, readings] = run.read[k];
      expect_reading(rig.sink().inertial[k], sensor, readings, run.loop.inertial[sensor]);
      ++reading_counts[sensor];
    }
    for (std::size_t i = 0; i < INERTIAL_SENSORS_MAX; ++i) {
      EXPECT_EQ(rig.supervisor().inertial_reading_count(i), reading_counts[i]);
    }
  }
}

// Each fault of each sensor is reported once to the operator and once in the recording.
TEST(SupervisorModel, ReportsEachInertialFaultOnce) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    SafetyLimits limits = furuta_limits();
    limits.inertial = {{.sensor = "imu"}, {.sensor = "foot"}, {.sensor = "hand"}};
    SimulatedRig rig(Scenario("step", Step{.amplitude = 1.0, .start_s = 0.0}, 60.0),
                     furuta_settings(), simulation_settings(), limits);
    auto& faults = const_cast<LoopCounters&>(rig.loop().counters()).inertial_faults;
    std::set<std::pair<std::size_t, unsigned>> expected;
    for (int k = 0; k < 12; ++k) {
      const std::size_t sensor = random() % 3, fault = random() % kInertialFaultCount;
      faults[sensor] = static_cast<std::uint8_t>(faults[sensor] | 1U << fault);
      expected.emplace(sensor, static_cast<unsigned>(fault));
      rig.supervisor().poll();
      ASSERT_EQ(rig.sink().events.size(), expected.size());
      ASSERT_EQ(rig.said().size(), expected.size());
      EXPECT_EQ(rig.said().back(), "note: " + rig.sink().events.back().text);
    }
    for (const auto& [sensor, fault] : expected) {
      const std::string start = "inertial sensor \"" + limits.inertial[sensor].sensor + "\" is " +
                                std::array{"missing", "stuck", "saturated"}[fault];
      EXPECT_EQ(std::ranges::count_if(rig.sink().events,
                                      [&](const proto::Event& event) {
                                        return event.name == "inertial sensor" &&
                                               event.kind == proto::EventKind::kLink &&
                                               event.text.starts_with(start);
                                      }),
                1)
          << start;
    }
  }
}

/// A sink that fails from a call on, with another text each time.
class FailingSink final : public MemorySink {
 public:
  proto::Status write(const proto::RecordingMessage& message) override {
    if (fails_to_write) return fail();
    return MemorySink::write(message);
  }
  proto::Status idle() override {
    ++idle_count;
    return fails_to_idle ? fail() : proto::success();
  }

  bool fails_to_write = false, fails_to_idle = false;
  int failure_count = 0, idle_count = 0;

 private:
  proto::Status fail() {
    return proto::Error{proto::ErrorCode::kDiskFull, "failure " + std::to_string(++failure_count)};
  }
};

struct Sinks {
  explicit Sinks(bool with_stream = true)
      : supervisor(rig.loop(), rig.black_box(), limits, recording, with_stream ? &stream : nullptr,
                   [this](const std::string& line) { said.push_back(line); }) {}

  void push() {
    LoopRecord record;
    record.sample.sequence = next++;
    ASSERT_TRUE(rig.loop().records().try_push(record));
    supervisor.poll();
  }
  std::ptrdiff_t count_said(const std::string& text) const {
    return std::ranges::count(said, text);
  }

  SafetyLimits limits = furuta_limits();
  SimulatedRig rig{Scenario("step", Step{.amplitude = 1.0, .start_s = 0.0}, 60.0)};
  FailingSink recording, stream;
  std::vector<std::string> said;
  std::uint64_t next = 0;
  Supervisor supervisor;
};

// A stream that fails when it is written or between writes is reported once and not used again. The
// recording goes on.
TEST(SupervisorFailures, EndTheStreamAndNotTheRecording) {
  for (const bool idle : {false, true}) {
    Sinks sinks;
    for (int k = 0; k < 3; ++k) sinks.push();
    (idle ? sinks.stream.fails_to_idle : sinks.stream.fails_to_write) = true;
    for (int k = 0; k < 3; ++k) sinks.push();
    EXPECT_EQ(sinks.stream.failure_count, 1);
    EXPECT_EQ(sinks.stream.samples.size(), idle ? 4U : 3U);
    EXPECT_EQ(sinks.recording.samples.size(), 6U);
    EXPECT_EQ(sinks.count_said("Streaming stopped: failure 1"), 1);
    EXPECT_FALSE(sinks.supervisor.must_stop());
  }
}

// The first error of a recording ends the run, and is reported once to the operator and the stream,
// whatever fails later.
TEST(SupervisorFailures, ReportTheFirstErrorOfTheRecording) {
  for (const bool idle : {false, true}) {
    Sinks sinks;
    sinks.push();
    EXPECT_FALSE(sinks.supervisor.must_stop());
    (idle ? sinks.recording.fails_to_idle : sinks.recording.fails_to_write) = true;
    for (int k = 0; k < 3; ++k) sinks.push();
    sinks.recording.fails_to_write = true;
    for (int k = 0; k < 3; ++k) sinks.push();
    EXPECT_GT(sinks.recording.failure_count, 1);
    EXPECT_TRUE(sinks.supervisor.must_stop());
    ASSERT_TRUE(sinks.supervisor.storage_error().has_value());
    EXPECT_EQ(sinks.supervisor.storage_error()->detail, "failure 1");
    const std::string text = "Output off, because the run cannot be recorded: failure 1";
    EXPECT_EQ(sinks.count_said("TRIP: " + text), 1);
    ASSERT_NE(sinks.stream.find("storage"), nullptr);
    EXPECT_EQ(sinks.stream.find("storage")->text, text);
    EXPECT_EQ(sinks.stream.find("storage")->kind, proto::EventKind::kTrip);
    EXPECT_EQ(std::ranges::count(sinks.stream.events, "storage", &proto::Event::name), 1);
    EXPECT_EQ(sinks.stream.samples.size(), 7U) << "the stream goes on";
    EXPECT_EQ(sinks.stream.idle_count, 7);
  }
}

// A state of the output that is not worth a line says nothing.
TEST(OutputStateText, IsEmptyInUseAndNamesTheTimeToLive) {
  EXPECT_EQ(describe_output_state(OutputState::kInUse, 70), "");
  std::set<std::string> texts;
  for (const OutputState state : {OutputState::kInUse, OutputState::kTripSent, OutputState::kOff,
                                  OutputState::kStillDrives, OutputState::kUnconfirmed}) {
    texts.insert(describe_output_state(state, 70));
  }
  EXPECT_EQ(texts.size(), 5U);
  EXPECT_NE(describe_output_state(OutputState::kUnconfirmed, 70).find(" 70 ms"), std::string::npos);
}

}  // namespace
}  // namespace daq
