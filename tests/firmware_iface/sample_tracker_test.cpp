#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>

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

// Random reports with full times and numbers, judged without any wrap. The host waits for none of
// them longer than a wrap. A sample is the next one if its clock and its number advance by the same
// number of periods, to a quarter; one that is not newer must have an earlier number.
TEST_P(SampleTrackerFormats, JudgesReportsByTheirClockAndNumber) {
  std::map<Verdict, int> verdicts;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto pick = [&](auto... values) {
      return std::array{values...}[random() % sizeof...(values)];
    };
    const CounterBits bits = GetParam();
    const double period_us = pick(1000.0, 4000.0, 1e3 / 3.0, 0.0);
    const bool is_periodic = period_us > 0.0;
    const std::int64_t start_us = pick(std::int64_t{0}, std::int64_t{0xFFFF'FF00});
    SampleTracker tracker(bits, static_cast<std::uint32_t>(start_us), period_us, 5s, facts_of(1));
    const std::int64_t mask = (std::int64_t{1} << bits.sequence) - 1;
    std::int64_t next = 0, last_us = start_us - std::llround(period_us), host_us = 5'000'000;
    UnitSample sample;
    for (int k = 0; k < 400; ++k) {
      const std::int64_t steps = pick(1, 1, 1, 1, 2, 3, 300, 0, -1, -2, -4);
      const double jitter = pick(0.0, 0.0, 0.0, 0.25, -0.25, 0.26, -0.26, 0.5, 0.01);
      const double length_us = is_periodic ? period_us : 1000.0;
      const std::int64_t elapsed_us =
          std::llround((static_cast<double>(steps) + jitter) * length_us);
      std::int64_t number = next - 1 + steps + pick(0, 0, 0, 0, 0, 0, 1, -1, 7);
      // A repetition in a host-paced stream is at most half the range of numbers older.
      if (random() % 20 == 0) number = next - 1 - mask / 2 - pick(0, 1);
      sample_report report{};
      report.sequence = static_cast<std::uint16_t>(number & mask);
      report.tick_us = static_cast<std::uint32_t>((last_us + elapsed_us) &
                                                  ((std::int64_t{1} << bits.tick_us) - 1));
      // A report that is dropped costs the host no time.
      const std::int64_t received_us =
          std::max(host_us, 5'000'000 + last_us + elapsed_us - start_us) + pick(0, 20, 900);

      const double periods = static_cast<double>(elapsed_us) / length_us;
      const std::int64_t whole = std::llround(periods);
      std::int64_t taken_steps = whole;
      Verdict expected = Verdict::kImplausible;
      if (elapsed_us > 0 && !is_periodic) {
        expected = Verdict::kNext;
        taken_steps = ((number - next) & mask) + 1;
      } else if (elapsed_us > 0) {
        const bool agrees = std::abs(periods - static_cast<double>(whole)) <= 0.25 && whole > 0;
        if (agrees && ((next - 1 + whole - number) & mask) == 0) expected = Verdict::kNext;
      } else {
        const std::int64_t back = (next - 1 - number) & mask;
        if (is_periodic ? back == (-whole & mask) : back <= mask / 2) expected = Verdict::kRepeated;
      }
      const UnitSample before = sample;
      ASSERT_EQ(
          tracker.process_sample_report(report, std::chrono::microseconds(received_us), sample),
          expected)
          << k << ": " << elapsed_us << " us, number " << number << " after " << next - 1;
      ++verdicts[expected];
      if (expected == Verdict::kNext) {
        host_us = received_us;
        last_us += elapsed_us;
        next += taken_steps;
        EXPECT_EQ(sample.lost_before, static_cast<std::uint64_t>(taken_steps - 1));
      }
      EXPECT_EQ(sample.sequence, expected == Verdict::kNext ? static_cast<std::uint64_t>(next - 1)
                                                            : before.sequence);
      EXPECT_EQ(sample.unit_time_us, expected == Verdict::kNext ? last_us : before.unit_time_us);
      ASSERT_EQ(tracker.next_sequence(), static_cast<std::uint64_t>(next));
    }
  }
  for (const Verdict verdict : {Verdict::kNext, Verdict::kRepeated, Verdict::kImplausible}) {
    EXPECT_GT(verdicts[verdict], 1000);
  }
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
  EXPECT_EQ(process_sample_report(2, 0xFFFF, -6), -6);
  EXPECT_EQ(sample.encoders_valid, 3) << "bits of channels that the unit does not have";
}

// Each encoder, also the first and the last, continues past its own modulus.
TEST_P(SampleTrackerFormats, EachEncoderHasItsOwnModulus) {
  constexpr int kCount = 4;
  UnitDescription facts = facts_of(kCount);
  for (std::uint32_t k = 0; k < kCount; ++k) facts.encoder[k].modulus = 100 + 10 * k;
  SampleTracker tracker(GetParam(), 0, 1000.0, 5s, facts);
  UnitSample sample;
  for (int sent = 0; sent < 100; ++sent) {
    sample_report report{};
    report.sequence = static_cast<std::uint16_t>(sent);
    report.tick_us = static_cast<std::uint32_t>(1000 * sent);
    report.encoders_valid = 0xF;
    for (int k = 0; k < kCount; ++k) report.encoder_counts[k] = 7 * sent % (100 + 10 * k);
    ASSERT_EQ(tracker.process_sample_report(report, 5s + std::chrono::milliseconds(sent), sample),
              Verdict::kNext);
    for (std::size_t k = 0; k < kCount; ++k) EXPECT_EQ(sample.encoder_counts[k], 7 * sent) << k;
  }
}

// An error that passes the checksum.
TEST_P(SampleTrackerFormats, RejectsAClockAheadOfTheHosts) {
  Stream stream(GetParam(), 0);
  ASSERT_EQ(stream.receive(0), Verdict::kNext);
  sample_report report{};
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
