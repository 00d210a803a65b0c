#include <gtest/gtest.h>

#include "firmware_iface/link/sample_tracker.hpp"

namespace {

using namespace firmware_iface;
using namespace std::chrono_literals;
using Verdict = SampleTracker::ReportVerdict;

UnitDescription facts_of(int encoder_count) {
  UnitDescription facts;
  facts.encoder_count = encoder_count;
  return facts;
}

/// A unit's clock, its stream at 1 kHz, and a host whose clock started 5 s earlier.
struct Stream {
  CounterBits bits;
  std::int64_t start_us;
  SampleTracker tracker;
  UnitSample sample;

  Stream(CounterBits with, std::int64_t start)
      : bits(with),
        start_us(start),
        tracker(with, static_cast<std::uint32_t>(start), 1000.0, 5s, facts_of(1)) {}

  /// Sample k as sent, read by the host `delay` after it was latched.
  Verdict receive(std::int64_t k, Nanoseconds delay = 300us) {
    sample_report report{};
    report.sequence = static_cast<std::uint16_t>(k & ((1 << bits.sequence) - 1));
    report.tick_us =
        static_cast<std::uint32_t>((start_us + 1000 * k) & ((std::int64_t{1} << bits.tick_us) - 1));
    report.encoders_valid = 1;
    report.encoder_counts[0] = static_cast<std::int32_t>(k);
    return tracker.process_sample_report(report, 5s + std::chrono::milliseconds(k) + delay, sample);
  }
};

class SampleTrackerFormats : public ::testing::TestWithParam<CounterBits> {};

// Gaps of any length up to minutes, over many wraps of sequence and clock.
TEST_P(SampleTrackerFormats, CountsGapsOfAnyLength) {
  for (const std::int64_t gap : {0, 1, 255, 256, 257, 20'000, 65'535, 65'536, 300'000}) {
    SCOPED_TRACE(gap);
    Stream stream(GetParam(), 0xFFFFFF00);
    ASSERT_EQ(stream.receive(0), Verdict::kNext);
    ASSERT_EQ(stream.receive(1 + gap), Verdict::kNext);
    EXPECT_EQ(stream.sample.sequence, static_cast<std::uint64_t>(1 + gap));
    EXPECT_EQ(stream.sample.lost_before, static_cast<std::uint64_t>(gap));
    EXPECT_EQ(stream.sample.unit_time_us, 0xFFFFFF00 + 1000 * (1 + gap));
  }
}

// A host that was stopped for 10 s reads 100 old samples from the buffer, then current ones. From
// the time since the last read alone, the jump would look like a step back.
TEST_P(SampleTrackerFormats, ResumesAfterAHostPause) {
  Stream stream(GetParam(), 1'000'000);
  for (std::int64_t k = 0; k < 1000; ++k) ASSERT_EQ(stream.receive(k), Verdict::kNext);
  for (std::int64_t k = 1000; k < 1100; ++k) {
    ASSERT_EQ(stream.receive(k, 11s - std::chrono::milliseconds(k)), Verdict::kNext);
  }
  ASSERT_EQ(stream.receive(11'000), Verdict::kNext);
  EXPECT_EQ(stream.sample.lost_before, 11'000U - 1100U);
}

// The wait for the reply to CONFIGURE may take seconds, in which samples already arrive.
TEST_P(SampleTrackerFormats, CountsLossesBeforeTheFirstSample) {
  Stream stream(GetParam(), 0);
  ASSERT_EQ(stream.receive(7000), Verdict::kNext);
  EXPECT_EQ(stream.sample.lost_before, 7000U);
}

TEST_P(SampleTrackerFormats, DropsRepeatedSamples) {
  Stream stream(GetParam(), 0);
  ASSERT_EQ(stream.receive(0), Verdict::kNext);
  ASSERT_EQ(stream.receive(1), Verdict::kNext);
  EXPECT_EQ(stream.receive(1), Verdict::kRepeated);
  EXPECT_EQ(stream.receive(0), Verdict::kRepeated);
  EXPECT_EQ(stream.tracker.next_sequence(), 2U);
}

// A host-paced stream has no period, so only the sequence shows whether a report is a repetition.
TEST_P(SampleTrackerFormats, DistinguishesRepetitionsFromAClockThatGoesBack) {
  SampleTracker tracker(GetParam(), 0, 0.0, 5s, facts_of(1));
  UnitSample sample;
  const auto receive = [&](int sequence, std::uint32_t tick_us) {
    sample_report report{};
    report.sequence = static_cast<std::uint16_t>(sequence);
    report.tick_us = tick_us;
    return tracker.process_sample_report(report, 5s + 10ms, sample);
  };
  ASSERT_EQ(receive(0, 1000), Verdict::kNext);
  ASSERT_EQ(receive(1, 2300), Verdict::kNext);
  EXPECT_EQ(receive(1, 2300), Verdict::kRepeated);
  EXPECT_EQ(receive(0, 1000), Verdict::kRepeated);
  EXPECT_EQ(receive(2, 1500), Verdict::kImplausible);
  EXPECT_EQ(receive(2, 3000), Verdict::kNext);
}

// A channel that was not read keeps its last count, whatever value is sent, and continues from
// there.
TEST_P(SampleTrackerFormats, MissingChannelKeepsItsCount) {
  SampleTracker tracker(GetParam(), 0, 1000.0, 5s, facts_of(2));
  UnitSample sample;
  const auto process_sample_report = [&](int k, int valid, int counts) {
    sample_report report{};
    report.sequence = static_cast<std::uint16_t>(k);
    report.tick_us = static_cast<std::uint32_t>(1000 * k);
    report.encoders_valid = static_cast<std::uint16_t>(valid);
    report.encoder_counts[0] = 1000 + k;
    report.encoder_counts[1] = counts;
    EXPECT_EQ(tracker.process_sample_report(report, 5s + std::chrono::milliseconds(k), sample),
              Verdict::kNext);
    return sample.encoder_counts[1];
  };
  EXPECT_EQ(process_sample_report(0, 3, -7), -7);
  EXPECT_EQ(process_sample_report(1, 1, 4000), -7);
  EXPECT_TRUE(sample.is_encoder_valid(0));
  EXPECT_FALSE(sample.is_encoder_valid(1));
  EXPECT_EQ(sample.encoder_counts[0], 1001);
  EXPECT_EQ(process_sample_report(2, 0xF3, -6), -6);
  EXPECT_EQ(sample.encoders_valid, 3) << "bits of channels that the unit does not have";
}

// Errors that pass the checksum: a sequence that contradicts the clock, a clock between ticks, a
// clock ahead of the host's.
TEST_P(SampleTrackerFormats, RejectsContradictions) {
  Stream stream(GetParam(), 0);
  ASSERT_EQ(stream.receive(0), Verdict::kNext);
  sample_report report{};
  report.sequence = 2;
  report.tick_us = 1000;
  EXPECT_EQ(stream.tracker.process_sample_report(report, 5s + 2ms, stream.sample),
            Verdict::kImplausible);
  report.sequence = 1;
  for (const std::uint32_t tick_us : {1251U, 1400U, 749U, 600U}) {
    report.tick_us = tick_us;
    EXPECT_EQ(stream.tracker.process_sample_report(report, 5s + 2ms, stream.sample),
              Verdict::kImplausible)
        << tick_us;
  }
  report.sequence = static_cast<std::uint16_t>(4000 & ((1 << GetParam().sequence) - 1));
  report.tick_us = 4'000'000;
  EXPECT_NE(stream.tracker.process_sample_report(report, 5s + 2ms, stream.sample), Verdict::kNext);
  EXPECT_EQ(stream.receive(1), Verdict::kNext) << "and goes on with the next good one";
}

// One hour with a clock that is off by one percent, as once went unnoticed for years.
TEST_P(SampleTrackerFormats, FollowsAClockThatIsFarOff) {
  for (const double rate : {0.99, 1.01}) {
    SampleTracker tracker(GetParam(), 0, 1000.0, 5s, facts_of(1));
    UnitSample sample;
    for (std::int64_t k = 0; k < 3'600'000; k += 97) {
      sample_report report{};
      report.sequence = static_cast<std::uint16_t>(k & ((1 << GetParam().sequence) - 1));
      report.tick_us =
          static_cast<std::uint32_t>((1000 * k) & ((std::int64_t{1} << GetParam().tick_us) - 1));
      const auto received =
          5s + Nanoseconds(static_cast<std::int64_t>(static_cast<double>(k) * 1e6 / rate)) + 1ms;
      ASSERT_EQ(tracker.process_sample_report(report, received, sample), Verdict::kNext) << k;
      ASSERT_EQ(sample.sequence, static_cast<std::uint64_t>(k));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, SampleTrackerFormats, ::testing::Values(kFullBits, kCompactBits),
                         [](const auto& test) {
                           return test.param.sequence == 16 ? "full" : "compact";
                         });

}  // namespace
