// Checks of samples and their clock.

#include <algorithm>
#include <cmath>

#include "firmware_iface/conformance/check.hpp"
#include "firmware_iface/link/unit_clock.hpp"

namespace firmware_iface::conformance {
namespace {

using namespace std::chrono_literals;

constexpr double kTickTolerance = 0.25;  // of a tick, T3

Measurement clock_agrees_with_host(TestHost& host) {
  constexpr Nanoseconds kDuration = 2500ms;
  constexpr double kErrorMax_ppm = 10'000.0;
  host.begin_stream();
  UnitClockEstimator clock;
  const Nanoseconds until = host.now() + kDuration;
  while (host.now() < until) {
    const ReceivedSample sample = host.next_sample();
    clock.add_sample_times(sample.time_us, host.now());
  }
  expect(clock.fit().valid, "too few samples in 2.5 s");
  const double error_ppm = clock.fit().rate_error_ppm;
  expect(std::abs(error_ppm) < kErrorMax_ppm,
         "the unit's clock differs from this computer's by {} ppm, allowed are 10000",
         format_value(error_ppm));
  return {error_ppm, "ppm"};
}

Measurement begins_at_start_tick(TestHost& host) {
  double worst_us = 0.0;
  for (int k = 0; k < 5; ++k) {
    host.begin_stream({.divider = 100});  // its next sample is not due for long
    host.wait(host.ticks(5.0 + k));
    const configure_reply stream = host.send_configure(RequestedStream{});
    const ReceivedSample sample = host.next_sample();
    expect(sample.number == 0, "the first sample has number {}, not 0", sample.number);
    const auto late_us = static_cast<std::int32_t>(sample.report.tick_us - stream.start_tick_us);
    expect(std::abs(late_us) <= kTickTolerance * host.tick_period_us(),
           "sample 0 has tick_us {}, start_tick_us is {}", sample.report.tick_us,
           stream.start_tick_us);
    if (std::abs(late_us) > std::abs(worst_us)) worst_us = late_us;
  }
  return {worst_us, "us", "from start_tick_us"};
}

Measurement keeps_its_period(TestHost& host) {
  constexpr int kSamples = 60;
  const int least = host.smallest_sample_divider(STREAM_ON);
  double worst_us = 0.0;
  for (const int divider : {least, least + 1, std::max(7, least + 2)}) {
    host.begin_stream({.divider = divider});
    const ReceivedSample first = host.next_sample();
    for (int k = 1; k < kSamples; ++k) {
      const ReceivedSample sample = host.next_sample();
      const double expected_us =
          static_cast<double>(sample.number - first.number) * divider * host.tick_period_us();
      const double error_us = static_cast<double>(sample.time_us - first.time_us) - expected_us;
      expect(std::abs(error_us) <= kTickTolerance * host.tick_period_us(),
             "with divider {} sample {} is latched {} us after sample {}, expected {}", divider,
             sample.number, sample.time_us - first.time_us, first.number,
             format_value(expected_us));
      worst_us = std::max(worst_us, std::abs(error_us));
    }
  }
  return {worst_us, "us", "largest deviation"};
}

Measurement has_no_gaps(TestHost& host) {
  host.begin_stream();
  const double rate_Hz = host.facts().tick_rate_Hz / static_cast<double>(host.sample_divider());
  const int count = std::max(200, static_cast<int>(rate_Hz));
  ReceivedSample before = host.next_sample();
  expect(before.number == 0, "the first sample has number {}", before.number);
  for (int k = 1; k < count; ++k) {
    const ReceivedSample sample = host.next_sample();
    expect(sample.number == before.number + 1, "sample {} is followed by sample {}", before.number,
           sample.number);
    before = sample;
  }
  return format_count(count, "sample");
}

Measurement echoes_commands(TestHost& host) {
  constexpr int kCommands = 200;
  host.begin_stream();
  ReceivedSample sample = host.next_sample();
  for (int k = 0; k < 5; ++k) {
    expect(!sample.has_seen_command(), "STATUS_COMMAND_SEEN is set before the first COMMAND");
    sample = host.next_sample();
  }
  std::vector<std::pair<std::uint16_t, std::int64_t>> sent;  // sequence, sample answered
  std::size_t echoed = 0;                                    // of these
  std::int64_t delay_min = INT64_MAX;
  std::int64_t delay_max = 0;
  const auto take_echo = [&] {
    if (!sample.has_seen_command()) return;
    const auto found = std::ranges::find(sent, sample.report.command_sequence,
                                         &std::pair<std::uint16_t, std::int64_t>::first);
    expect(found != sent.end(),
           "command_sequence is {}, but no COMMAND of this stream has that sequence",
           sample.report.command_sequence);
    const auto count = static_cast<std::size_t>(found - sent.begin()) + 1;
    expect(count >= echoed, "command_sequence goes back to {}", sample.report.command_sequence);
    if (count == echoed) return;
    echoed = count;
    const std::int64_t delay = (sample.number - found->second) * host.sample_divider();
    delay_min = std::min(delay_min, delay);
    delay_max = std::max(delay_max, delay);
  };
  for (int k = 0; k < kCommands; ++k) {
    sent.emplace_back(host.send_command(0, sample.number), sample.number);
    sample = host.next_sample();
    take_echo();
  }
  for (int k = 0; k < kCommands && echoed < sent.size(); ++k) {
    sample = host.next_sample();
    take_echo();
  }
  expect(echoed > 0, "no sample reports a COMMAND");
  expect(echoed == sent.size(),
         "the last COMMAND, sequence {}, is not reported; command_sequence stays {}",
         sent.back().first, sample.report.command_sequence);
  return format_count(delay_max, "tick", "delay, least " + std::to_string(delay_min));
}

}  // namespace

std::vector<ConformanceCheck> sample_checks() {
  return {
      {"T1", "The unit's clock agrees with this computer's within 1 %.", clock_agrees_with_host},
      {"T3a", "Sample 0 is latched at start_tick_us.", begins_at_start_tick},
      {"T3b", "Sample n is latched n x divider ticks after sample 0.", keeps_its_period},
      {"T5", "Samples come in the order of their numbers, without gap or repetition.", has_no_gaps},
      {"T7", "command_sequence is the number of the newest accepted COMMAND.", echoes_commands},
  };
}

}  // namespace firmware_iface::conformance
