// Checks of COMMAND: acceptance and output.

#include <algorithm>
#include <cmath>

#include "firmware_iface/conformance/check.hpp"
#include "firmware_iface/wire/message_type.h"

namespace firmware_iface::conformance {
namespace {

using namespace std::chrono_literals;

constexpr int kAgeTicks = 10;
constexpr int kSequencesApart = 100;  // distinguishes a rejected COMMAND from its neighbours

/// Returns a limit for the age of answered samples in a test [ticks]: a COMMAND that answers a
/// sample up to twice as old is still within its time to live.
int testable_age_ticks(const TestHost& host) {
  const double ttl_ticks = host.facts().ttl_max_ms * 1e3 / host.tick_period_us();
  return std::clamp(static_cast<int>(ttl_ticks / 3.0), 1, kAgeTicks);
}

int longest_ttl_ms(const TestHost& host) { return std::max<int>(host.facts().ttl_max_ms, 1); }

/// Sends an invalid COMMAND. Fails unless exactly one sample after it reports its rejection and
/// none drives.
void expect_rejected(TestHost& host, std::int64_t answers, int ttl_ms, const std::string& what,
                     int samples = 20) {
  host.skip_command_numbers(kSequencesApart);
  const std::uint16_t sequence = host.send_command(COMMAND_ENABLE, answers, ttl_ms);
  int rejections = 0;
  for (int k = 0; k < samples; ++k) {
    const ReceivedSample sample = host.next_sample();
    rejections += sample.has_rejected() ? 1 : 0;
    expect(!sample.is_driving(), "{} is accepted and drives", what);
    expect(!sample.is_tripped(), "{} trips: {}", what, fault_names(sample.report.fault_flags));
    expect(!sample.has_seen_command() || sample.report.command_sequence != sequence,
           "{} appears in command_sequence", what);
  }
  expect(rejections == 1, "{} sets STATUS_COMMAND_REJECTED in {} samples, not in one", what,
         rejections);
}

Measurement idle_switches_off(TestHost& host) {
  host.begin_with_cleared_trip();
  const int ttl_ms = host.time_to_live_ms(60);
  host.drive(ttl_ms);
  host.idle();
  for (const ReceivedSample& sample : host.read_samples_for(2ms * ttl_ms + 50ms)) {
    expect(!sample.is_driving() && !sample.is_tripped(),
           "after a COMMAND without COMMAND_ENABLE: {}, {}", status_names(sample.report.status),
           fault_names(sample.report.fault_flags));
  }
  return {2.0 * ttl_ms + 50.0, "ms", "without a trip"};
}

ReceivedSample drive_after_sample_0_expired(TestHost& host) {
  constexpr int kAge = 30;
  host.begin_with_cleared_trip({.command_age_ticks = kAge});
  while (host.next_sample().number * host.sample_divider() < 2 * kAge) {
  }
  return host.drive(longest_ttl_ms(host));
}

// Any idle COMMAND must switch the output off before the time to live ends.
Measurement accepts_late_idle(TestHost& host) {
  std::int64_t slowest = 0;
  for (const std::int64_t answers : {std::int64_t{0}, std::int64_t{0xFFFFFFFF}}) {
    const ReceivedSample driving = drive_after_sample_0_expired(host);
    host.send_command(0, answers, 0);
    const ReceivedSample off = host.read_sample_until(
        is_not_driving, "a COMMAND without COMMAND_ENABLE is accepted for any answered sample");
    expect(!off.is_tripped(), "instead of the idle COMMAND a trip ends driving: {}",
           fault_names(off.report.fault_flags));
    slowest = std::max(slowest, off.time_us - driving.time_us);
  }
  return {static_cast<double>(slowest) * 1e-3, "ms", "until off"};
}

Measurement accepts_late_trip(TestHost& host) {
  for (const unsigned flags : {unsigned{COMMAND_TRIP}, unsigned{COMMAND_TRIP | COMMAND_ENABLE}}) {
    drive_after_sample_0_expired(host);
    host.send_command(static_cast<std::uint8_t>(flags), 0xFFFFFFFF, 0);
    const ReceivedSample tripped = host.read_sample_until(
        &ReceivedSample::is_tripped, "COMMAND_TRIP is accepted for any answered sample");
    expect_trip_cause(tripped.report.fault_flags, FAULT_HOST);
  }
  return format_count(2, "trip");
}

Measurement rejects_future(TestHost& host) {
  for (const std::int64_t ahead : {1, 1000}) {
    host.begin_with_cleared_trip({.divider = 255});
    expect_rejected(host, host.next_sample().number + ahead, longest_ttl_ms(host),
                    "a COMMAND that answers a sample not sent yet", 3);
  }
  return format_count(2, "COMMAND", "rejected");
}

Measurement rejects_before_stream(TestHost& host) {
  host.begin_with_cleared_trip();
  host.skip_samples(5);
  expect_rejected(host, 0xFFFFFFFF, longest_ttl_ms(host),
                  "a COMMAND that answers the sample before number 0");
  return format_count(1, "COMMAND", "rejected");
}

Measurement rejects_without_stream(TestHost& host) {
  host.begin();
  host.clear_trip();
  host.send_command(COMMAND_ENABLE, 0, host.time_to_live_ms(20));
  host.wait(100ms);
  const unsigned faults = host.hello().fault_flags;
  expect(faults == 0, "after a COMMAND without a stream: {}", fault_names(faults));
  return format_count(1, "COMMAND", "ignored");
}

Measurement rejects_too_old(TestHost& host) {
  const int age = testable_age_ticks(host);
  host.begin_with_cleared_trip({.divider = age + 1, .command_age_ticks = age});
  const std::int64_t answered = host.next_sample().number;
  const ReceivedSample newest = host.read_sample_until(
      [&](const ReceivedSample& sample) { return sample.number > answered; }, "samples go on");
  expect_rejected(
      host, newest.number - 1, longest_ttl_ms(host),
      fmt::format("a COMMAND that answers a sample {} ticks old, with {} allowed,", age + 1, age));
  return format_count(age + 1, "tick", fmt::format("{} allowed", age));
}

// Answers samples far in the past. A unit that stores only its last latches must not mistake the
// latch of a newer sample for that of an older one.
Measurement rejects_far_past(TestHost& host) {
  constexpr std::int64_t kFarthest = 1024;
  const int age = 2 * host.smallest_sample_divider(STREAM_ON);
  host.begin_with_cleared_trip({.command_age_ticks = std::min(age, 255)});
  while (host.next_sample().number < kFarthest + 4) {
  }
  int rejections = 0;
  int commands = 0;
  for (std::int64_t behind = 8; behind <= kFarthest; behind *= 2) {
    for (std::int64_t more = -1; more <= 2; ++more) {
      host.send_command(COMMAND_ENABLE, host.last_sample()->number - behind - more,
                        longest_ttl_ms(host));
      ++commands;
      for (int k = 0; k < 3; ++k) {
        const ReceivedSample sample = host.next_sample();
        rejections += sample.has_rejected() ? 1 : 0;
        expect(!sample.is_driving() && !sample.is_tripped(),
               "a COMMAND that answers a sample {} samples old: {}", behind + more,
               status_names(sample.report.status));
      }
    }
  }
  expect(rejections > 0, "no COMMAND that answers an old sample sets STATUS_COMMAND_REJECTED");
  return format_count(commands, "COMMAND", "rejected");
}

// A delayed COMMAND is rightly rejected, so only one of several must be accepted.
Measurement accepts_oldest_allowed(TestHost& host) {
  constexpr int kTries = 20;
  const int age = testable_age_ticks(host);
  host.begin_with_cleared_trip({.divider = age, .command_age_ticks = age});
  host.next_sample();
  for (int k = 0; k < kTries; ++k) {
    host.send_command(COMMAND_ENABLE, host.next_sample().number - 1, longest_ttl_ms(host));
    for (int later = 0; later < 3; ++later) {
      if (host.next_sample().is_driving()) {
        return format_count(age, "tick", fmt::format("{} allowed", age));
      }
    }
  }
  throw CheckFailed{
      fmt::format("of {} COMMANDs that answer a sample {} ticks old, with as many allowed, "
                  "none is accepted",
                  kTries, age)};
}

Measurement rejects_expired(TestHost& host) {
  const int ttl_ms = host.time_to_live_ms(5);
  host.begin_with_cleared_trip();
  const ReceivedSample answered = host.next_sample();
  host.read_sample_until(
      [&](const ReceivedSample& sample) {
        return sample.time_us >= answered.time_us + 1000 * ttl_ms;
      },
      "samples go on");
  expect_rejected(host, answered.number, ttl_ms, "a COMMAND whose time to live has expired");
  return {static_cast<double>(ttl_ms), "ms", "rejected after it"};
}

Measurement rejects_superseded(TestHost& host) {
  host.begin_with_cleared_trip();
  const int ttl_ms = longest_ttl_ms(host);
  host.skip_samples(5);
  const ReceivedSample driving = host.drive(ttl_ms);
  // drive() has answered the samples before it.
  host.send_command(COMMAND_ENABLE, driving.number, ttl_ms);
  host.skip_command_numbers(kSequencesApart);
  const std::uint16_t sequence = host.send_command(COMMAND_ENABLE, driving.number - 2, ttl_ms);
  int rejections = 0;
  for (int k = 0; k < 10; ++k) {
    const ReceivedSample sample = host.next_sample();
    rejections += sample.has_rejected() ? 1 : 0;
    expect(sample.report.command_sequence != sequence,
           "a COMMAND that answers an earlier sample than the one before appears in "
           "command_sequence");
  }
  expect(rejections == 1,
         "a COMMAND that answers an earlier sample than the one accepted before sets "
         "STATUS_COMMAND_REJECTED in {} samples, not in one",
         rejections);
  return format_count(1, "COMMAND", "rejected");
}

Measurement accepts_same_sample(TestHost& host) {
  host.begin_with_cleared_trip();
  const ReceivedSample answered = host.next_sample();
  for (int k = 0; k < 3; ++k) {
    host.send_command(COMMAND_ENABLE, answered.number, longest_ttl_ms(host));
    for (int later = 0; later < 3; ++later) {
      expect(!host.next_sample().has_rejected(),
             "the COMMAND number {} that answers a sample is rejected", k + 1);
    }
  }
  return format_count(3, "COMMAND", "accepted");
}

Measurement puts_out_commands(TestHost& host) {
  constexpr int kCoarsest_q15 = 128;  // half a step of an 8-bit converter
  host.begin_with_cleared_trip();
  ReceivedSample sample = host.drive(longest_ttl_ms(host));
  int worst_q15 = 0;
  for (int round = 0; round < 20; ++round) {
    for (int k = 0; k < host.motor_count(); ++k) {
      const int commanded_q15 = host.command_q15(k);
      const int error_q15 = std::abs(sample.report.command_q15[k] - commanded_q15);
      expect(error_q15 <= kCoarsest_q15 && (commanded_q15 != 0 || error_q15 == 0),
             "motor {} is commanded {}, SAMPLE reports {}", k, commanded_q15,
             sample.report.command_q15[k]);
      worst_q15 = std::max(worst_q15, error_q15);
    }
    host.send_command(COMMAND_ENABLE, sample.number, longest_ttl_ms(host));
    sample = host.next_sample();
    expect(sample.is_driving(), "driving ends while COMMANDs come");
  }
  return {
      static_cast<double>(worst_q15), "of 32767",
      fmt::format("rounding at {} % of the range", format_value(100.0 * host.settings().command))};
}

Measurement ignores_other_motor_counts(TestHost& host) {
  std::vector<int> counts;
  if (host.motor_count() > 0) counts.push_back(host.motor_count() - 1);
  if (host.motor_count() < MOTORS_MAX) counts.push_back(host.motor_count() + 1);
  for (const int count : counts) {
    host.begin_with_cleared_trip();
    ReceivedSample sample = host.next_sample();
    for (int k = 0; k < 10; ++k) {
      host.send(encode_message(
          host.make_command(COMMAND_ENABLE, sample.number, longest_ttl_ms(host)), count));
      sample = host.next_sample();
      expect(!sample.is_driving(), "a COMMAND for {} motors drives", count);
      expect(!sample.has_seen_command(), "a COMMAND for {} motors appears in command_sequence",
             count);
      expect(!sample.is_tripped(), "a COMMAND for {} motors trips", count);
    }
  }
  return format_count(counts.size(), "length", "ignored");
}

// Undefined flag bits must neither enable the output nor prevent a COMMAND from switching it off.
Measurement ignores_unknown_flags(TestHost& host) {
  host.begin_with_cleared_trip();
  host.drive(longest_ttl_ms(host));
  constexpr int kUnknown = 0xFF & ~(COMMAND_ENABLE | COMMAND_TRIP);
  host.send_command(kUnknown, host.last_sample()->number, 0);
  const ReceivedSample off = host.read_sample_until(
      is_not_driving, "a COMMAND with unknown flags and without COMMAND_ENABLE is idle");
  expect(!off.is_tripped(), "unknown flags trip: {}", fault_names(off.report.fault_flags));
  return format_count(6, "bit");
}

}  // namespace

std::vector<ConformanceCheck> command_checks() {
  return {
      {"F7b", "A COMMAND for another number of motors is ignored.", ignores_other_motor_counts},
      {"M2a", "Flags of COMMAND that PROTOCOL.md does not list are ignored.",
       ignores_unknown_flags},
      {"C1a", "A COMMAND without COMMAND_ENABLE switches the output off without a trip.",
       idle_switches_off},
      {"C1b", "A COMMAND without COMMAND_ENABLE is accepted for any answered sample.",
       accepts_late_idle},
      {"C2a", "COMMAND_TRIP trips for any values of the other fields.", accepts_late_trip},
      {"C4.1a", "A COMMAND that answers a sample not sent yet is rejected.", rejects_future},
      {"C4.1b", "A COMMAND that answers a sample before number 0 is rejected.",
       rejects_before_stream},
      {"C4.1c", "A COMMAND without a stream does not drive.", rejects_without_stream},
      {"C4.2a", "A COMMAND that answers a sample one tick too old is rejected.", rejects_too_old},
      {"C4.2c", "A COMMAND that answers a sample 7 to 1026 samples before the newest is rejected.",
       rejects_far_past},
      {"C4.2b", "A COMMAND that answers the oldest sample allowed is accepted.",
       accepts_oldest_allowed},
      {"C4.3", "A COMMAND whose time to live has expired is rejected.", rejects_expired},
      {"C4.4a", "A COMMAND that answers an earlier sample than an accepted COMMAND is rejected.",
       rejects_superseded},
      {"C4.4b", "A COMMAND that answers the same sample as the previous COMMAND is accepted.",
       accepts_same_sample},
      {"C9", "The output of each motor is its command_q15, as finely as the converter allows.",
       puts_out_commands},
  };
}

}  // namespace firmware_iface::conformance
