// Checks of optional features, and requirements on all samples.

#include <algorithm>
#include <numeric>

#include "firmware_iface/conformance/check.hpp"
#include "firmware_iface/wire/message_type.h"

namespace firmware_iface::conformance {
namespace {

using namespace std::chrono_literals;

void require(const TestHost& host, int capability, const char* reason) {
  if ((host.facts().capabilities & capability) == 0) throw CheckNotTested{reason};
}

Measurement streams_compact(TestHost& host) {
  require(host, UNIT_CAN_COMPACT, "the unit has no compact format");
  constexpr int kSamples = 300;  // more than one wrap of an 8-bit sequence
  host.begin_stream({.flags = STREAM_ON | STREAM_COMPACT});
  ReceivedSample before = host.next_sample();
  expect(before.number == 0, "the first compact sample has number {}", before.number);
  for (int k = 1; k < kSamples; ++k) {
    const ReceivedSample sample = host.next_sample();
    const double periods = static_cast<double>(sample.time_us - before.time_us) /
                           (host.tick_period_us() * host.sample_divider());
    expect(sample.number == before.number + 1 && periods > 0.5 && periods < 1.5,
           "compact sample {} is followed by sample {} after {} periods", before.number,
           sample.number, format_value(periods));
    before = sample;
  }
  expect(host.received_message_count(MESSAGE_SAMPLE) == 0, "SAMPLE comes in a compact stream");
  return format_count(kSamples, "sample");
}

Measurement accepts_compact_commands(TestHost& host) {
  require(host, UNIT_CAN_COMPACT, "the unit has no compact format");
  const int ttl_ms = host.time_to_live_ms(60);
  host.begin_with_cleared_trip({.flags = STREAM_ON | STREAM_COMPACT});
  while (host.next_sample().number < 20) {
  }
  host.drive(ttl_ms);
  host.idle();
  host.send_command(COMMAND_ENABLE, 0xFFFFFF, ttl_ms);  // before sample 0
  bool is_rejected = false;
  for (int k = 0; k < 20; ++k) {
    const ReceivedSample sample = host.next_sample();
    is_rejected = is_rejected || sample.has_rejected();
    expect(!sample.is_driving(), "COMMAND_COMPACT that answers the sample before number 0 drives");
  }
  expect(is_rejected, "COMMAND_COMPACT that answers the sample before number 0 is not rejected");
  host.drive(ttl_ms);
  const ReceivedSample tripped = host.read_sample_until(
      &ReceivedSample::is_tripped, "the time to live of COMMAND_COMPACT expires", 1000);
  expect_trip_cause(tripped.report.fault_flags, FAULT_TTL);
  return {static_cast<double>(ttl_ms), "ms", "time to live"};
}

Measurement accepts_both_commands(TestHost& host) {
  require(host, UNIT_CAN_COMPACT, "the unit has no compact format");
  host.begin_with_cleared_trip();
  ReceivedSample sample = host.next_sample();
  for (int k = 0; k < 60 && !sample.is_driving(); ++k) {
    host.send(encode_compact_message(
        host.make_command(COMMAND_ENABLE, sample.number, host.time_to_live_ms(100))));
    sample = host.next_sample();
  }
  expect(sample.is_driving(), "COMMAND_COMPACT is not accepted in a stream of SAMPLE");
  return format_count(1, "stream");
}

Measurement is_paced_by_host(TestHost& host) {
  require(host, UNIT_CAN_HOST_PACED, "the unit does not support host-paced sampling");
  constexpr int kCommands = 30;
  constexpr Nanoseconds kSilence = 100ms;
  host.begin_stream({.flags = STREAM_ON | STREAM_HOST_PACED});
  host.clear_trip();
  for (int k = 0; k < kCommands; ++k) {
    host.send_command(0, 0, 0);
    const ReceivedSample sample = host.next_sample();
    expect(sample.number == k, "COMMAND {} is answered with sample {}", k, sample.number);
    host.wait(3ms);
  }
  const std::size_t unasked = host.read_samples_for(kSilence).size();
  expect(unasked == 0, "{} samples come without a COMMAND", unasked);
  return format_count(kCommands, "sample");
}

Measurement host_paced_ttl_trips(TestHost& host) {
  require(host, UNIT_CAN_HOST_PACED, "the unit does not support host-paced sampling");
  const int ttl_ms = host.time_to_live_ms(60);
  host.begin_stream({.flags = STREAM_ON | STREAM_HOST_PACED});
  host.clear_trip();
  host.send_command(0, 0, 0);
  host.next_sample();
  host.drive(ttl_ms);
  host.wait(1ms * ttl_ms + 50ms);
  const unsigned faults = host.hello().fault_flags;
  expect(faults == FAULT_TTL, "{} ms after the last COMMAND of a host-paced stream: {}",
         ttl_ms + 50, fault_names(faults));
  return {static_cast<double>(ttl_ms), "ms", "time to live"};
}

Measurement reports_marks(TestHost& host) {
  require(host, UNIT_CAN_MARKS, "the unit reads no index pulse and no home switch");
  host.begin_stream({.flags = STREAM_ON | STREAM_MARKS});
  unsigned has_index = 0;
  unsigned has_home = 0;
  for (std::size_t k = 0; k < host.encoders().size(); ++k) {
    if ((host.encoders()[k].flags & ENCODER_HAS_INDEX) != 0) has_index |= 1U << k;
    if ((host.encoders()[k].flags & ENCODER_HAS_HOME) != 0) has_home |= 1U << k;
  }
  constexpr int kSamples = 100;
  for (int k = 0; k < kSamples; ++k) {
    const sample_report report = host.next_sample().report;
    expect((report.index_passed & ~has_index) == 0,
           "index_passed is {:#x}, encoders with an index pulse are {:#x}", report.index_passed,
           has_index);
    expect((report.home_closed & ~has_home) == 0,
           "home_closed is {:#x}, encoders with a home switch are {:#x}", report.home_closed,
           has_home);
  }
  return format_count(kSamples, "sample");
}

Measurement reads_inertial_sensors(TestHost& host) {
  const hello_reply& facts = host.facts();
  const int count = std::min<int>(facts.inertial_count, INERTIAL_SENSORS_MAX);
  if (count == 0) throw CheckNotTested{"the unit has no inertial sensor"};
  RequestedStream stream{.divider = host.smallest_sample_divider(STREAM_ON, count)};
  int longest = 1;
  for (int k = 0; k < count; ++k) {
    const int ticks = std::max<int>(facts.inertial_ticks[k], 1);
    const int divider = ticks / std::gcd(ticks, stream.divider);
    stream.inertial_divider[static_cast<std::size_t>(k)] = static_cast<std::uint8_t>(divider);
    longest = std::max(longest, divider);
  }
  host.begin_stream(stream);
  const int samples = std::max(100, 4 * longest);
  for (int k = 0; k <= samples; ++k) host.next_sample();
  std::array<int, INERTIAL_SENSORS_MAX> read{};
  for (const ReceivedInertialReadings& inertial : host.received_inertial()) {
    const std::int64_t number = inertial.sample_number;
    expect(inertial.report.sequence == static_cast<std::uint16_t>(number & 0xFFFF),
           "INERTIAL of sample {} comes after sample {}", inertial.report.sequence, number);
    for (std::size_t k = 0; k < read.size(); ++k) {
      if (((inertial.report.sensors >> k) & 1) == 0) continue;
      expect(static_cast<int>(k) < count && number % stream.inertial_divider[k] == 0,
             "sensor {} is read with sample {}, for which it is not due", k, number);
      ++read[k];
    }
  }
  for (int k = 0; k < count; ++k) {
    expect(read[static_cast<std::size_t>(k)] > 0, "sensor {} is never read in {} samples", k,
           samples);
  }
  return format_count(std::accumulate(read.begin(), read.end(), 0), "reading");
}

/// Throws CheckFailed if any message violated the requirement `id`.
void expect_never_violated(const TestHost& host, const std::string& id) {
  const auto found = host.violations().find(id);
  if (found != host.violations().end()) throw CheckFailed{found->second};
}

/// Returns a check of a requirement on all samples.
ConformanceCheck check_of_samples(const char* id, const char* requirement) {
  return {id, requirement, [id](TestHost& host) {
            expect_never_violated(host, id);
            return format_count(host.received_sample_count(), "sample");
          }};
}

Measurement sends_only_frames(TestHost& host) {
  expect_never_violated(host, "F9");
  return format_count(host.received_frame_count(), "frame");
}

Measurement reads_each_encoder(TestHost& host) {
  double least = 1.0;
  for (std::size_t k = 0; k < std::min<std::size_t>(host.facts().encoder_count, ENCODERS_MAX);
       ++k) {
    const auto valid = static_cast<double>(host.valid_sample_count(k));
    expect(valid > 0.0 || host.received_sample_count() == 0, "encoder {} is never valid", k);
    least =
        std::min(least, valid / std::max(1.0, static_cast<double>(host.received_sample_count())));
  }
  return {100.0 * least, "%", "of all samples at least"};
}

}  // namespace

std::vector<ConformanceCheck> format_checks() {
  return {
      {"T9a", "In a host-paced stream each COMMAND, and nothing else, gets one SAMPLE.",
       is_paced_by_host},
      {"T9b", "The time to live also expires in a host-paced stream.", host_paced_ttl_trips},
      {"E6", "With STREAM_MARKS samples contain marks, but only of encoders that have marks.",
       reports_marks},
      {"I1", "Each sample is followed by the readings of the inertial sensors that are due.",
       reads_inertial_sensors},
      {"K2", "A compact stream has SAMPLE_COMPACT with the low bits of number and time.",
       streams_compact},
      {"K3", "COMMAND_COMPACT drives, is rejected and expires like COMMAND.",
       accepts_compact_commands},
      {"K4", "COMMAND_COMPACT is accepted in a stream of SAMPLE.", accepts_both_commands},
  };
}

std::vector<ConformanceCheck> overall_checks() {
  return {
      {"F9", "Every byte from the port belongs to a valid frame of a unit.", sends_only_frames},
      check_of_samples("M2b", "Bits that PROTOCOL.md does not list are 0."),
      check_of_samples("T6", "command_q15 is 0 unless the unit drives."),
      check_of_samples("T8a", "STATUS_TRIPPED is set exactly if fault_flags is not 0."),
      check_of_samples("E1", "Counts of a valid encoder are from 0 to its modulus - 1."),
      check_of_samples("E2a", "encoders_valid has bits only of the unit's encoders."),
      {"E2b", "Each encoder is valid in some sample.", reads_each_encoder},
  };
}

}  // namespace firmware_iface::conformance
