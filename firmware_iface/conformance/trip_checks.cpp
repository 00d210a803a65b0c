// Checks of the time to live, and of other causes of trips.

#include <algorithm>
#include <optional>

#include "firmware_iface/conformance/check.hpp"
#include "firmware_iface/wire/message_type.h"

namespace firmware_iface::conformance {
namespace {

using namespace std::chrono_literals;

constexpr int kTtlWanted_ms = 60;

// Answers a sample that is several ticks old, to detect a time to live that counts from the arrival
// of the COMMAND. Returns the unit's time from that sample's latch to the first tripped sample;
// nothing if the COMMAND or a sample was lost.
std::optional<std::int64_t> measured_ttl_us(TestHost& host, int ttl_ms) {
  constexpr std::int64_t kWaitMore_us = 500'000;
  const double ttl_ticks = 1e3 * ttl_ms / host.tick_period_us();
  const int old_ticks = std::clamp(static_cast<int>(ttl_ticks / 3.0), 1, 6);
  host.begin_with_cleared_trip();
  const ReceivedSample answered = host.next_sample();
  ReceivedSample sample = host.read_sample_until(
      [&](const ReceivedSample& later) {
        return (later.number - answered.number) * host.sample_divider() >= old_ticks;
      },
      "samples go on");
  host.send_command(COMMAND_ENABLE, answered.number, ttl_ms);
  bool has_driven = false;
  for (std::int64_t before = sample.number;; before = sample.number) {
    sample = host.next_sample();
    if (sample.has_rejected() || sample.number != before + 1) return std::nullopt;
    has_driven = has_driven || sample.is_driving();
    const std::int64_t elapsed_us = sample.time_us - answered.time_us;
    if (sample.is_tripped()) {
      expect_trip_cause(sample.report.fault_flags, FAULT_TTL);
      expect(has_driven, "the COMMAND never drives");
      return elapsed_us;
    }
    expect(elapsed_us < 1000 * ttl_ms + kWaitMore_us,
           "500 ms after a time to live of {} ms the unit is not tripped: {}", ttl_ms,
           status_names(sample.report.status));
  }
}

Measurement ttl_counts_from_sample(TestHost& host) {
  constexpr int kTries = 5;
  const int ttl_ms = host.time_to_live_ms(kTtlWanted_ms);
  for (int k = 0; k < kTries; ++k) {
    const auto elapsed_us = measured_ttl_us(host, ttl_ms);
    if (!elapsed_us) continue;
    const double period_us = host.tick_period_us() * host.sample_divider();
    const double elapsed_ms = static_cast<double>(*elapsed_us) * 1e-3;
    // Latches are rounded to microseconds.
    expect(static_cast<double>(*elapsed_us) >= 1e3 * ttl_ms - 1.0 &&
               static_cast<double>(*elapsed_us) < 1e3 * ttl_ms + period_us - 0.5,
           "a time to live of {} ms ends {} ms after the latch of the sample answered; "
           "expected is the first sample from {} ms on, one every {} ms",
           ttl_ms, format_value(elapsed_ms), ttl_ms, format_value(period_us * 1e-3));
    return {elapsed_ms, "ms", "with ttl_ms " + std::to_string(ttl_ms)};
  }
  throw CheckFailed{"none of " + std::to_string(kTries) +
                    " COMMANDs that answer a sample some ticks old was accepted"};
}

// The COMMANDs answer sample 0, which is too old, superseded and expired. So a unit that violates
// only one rule of C4 still rejects them.
Measurement rejected_prolongs_nothing(TestHost& host) {
  constexpr std::int64_t kLate_us = 20'000;
  constexpr std::int64_t kExpired_us = 300'000;  // longer than any time to live
  const int ttl_ms = host.time_to_live_ms(kTtlWanted_ms);
  host.begin_with_cleared_trip({.command_age_ticks = 50});
  const ReceivedSample first = host.next_sample();
  host.read_sample_until(
      [&](const ReceivedSample& sample) { return sample.time_us >= first.time_us + kExpired_us; },
      "samples go on", 100'000);
  const std::int64_t answered_us =
      host.drive(ttl_ms).time_us;  // latest possible latch of the answered sample
  std::int64_t rejections = 0;
  for (;;) {
    host.send_command(COMMAND_ENABLE, 0, host.facts().ttl_max_ms);
    const ReceivedSample sample = host.next_sample();
    rejections += sample.has_rejected() ? 1 : 0;
    const std::int64_t elapsed_us = sample.time_us - answered_us;
    if (sample.is_tripped()) {
      expect_trip_cause(sample.report.fault_flags, FAULT_TTL);
      return {static_cast<double>(elapsed_us) * 1e-3, "ms",
              std::to_string(rejections) + " rejections"};
    }
    expect(
        elapsed_us < 1000 * ttl_ms + kLate_us,
        "with COMMANDs that it must reject the unit drives for more than {} ms, its ttl_ms is {}",
        format_value(static_cast<double>(elapsed_us) * 1e-3), ttl_ms);
  }
}

Measurement drives_while_commands_come(TestHost& host) {
  constexpr std::int64_t kDuration_us = 300'000;
  const int ttl_ms = host.time_to_live_ms(100);
  host.begin_with_cleared_trip();
  const ReceivedSample first = host.drive(ttl_ms);
  ReceivedSample sample = first;
  while (sample.time_us < first.time_us + kDuration_us) {
    host.send_command(COMMAND_ENABLE, sample.number, ttl_ms);
    sample = host.next_sample();
    expect(sample.is_driving() && !sample.is_tripped(),
           "while a COMMAND answers each sample the unit stops driving: {}, {}",
           status_names(sample.report.status), fault_names(sample.report.fault_flags));
  }
  return {static_cast<double>(sample.time_us - first.time_us) * 1e-3, "ms", "driven"};
}

/// Throws CheckFailed unless an enabled COMMAND with this time to live trips a unit that is not
/// driving.
void expect_ttl_trips(TestHost& host, int ttl_ms) {
  host.begin_with_cleared_trip();
  host.send_command(COMMAND_ENABLE, host.next_sample().number, ttl_ms);
  for (int k = 0; k < 20; ++k) {
    const ReceivedSample sample = host.next_sample();
    expect(!sample.is_driving(), "a COMMAND with ttl_ms {} drives", ttl_ms);
    if (!sample.is_tripped()) continue;
    expect((sample.report.fault_flags & FAULT_COMMAND) != 0,
           "a COMMAND with ttl_ms {} trips, but with the cause {}", ttl_ms,
           fault_names(sample.report.fault_flags));
    return;
  }
  throw CheckFailed{"a COMMAND with ttl_ms " + std::to_string(ttl_ms) + " does not trip"};
}

Measurement ttl_above_max_trips(TestHost& host) {
  const int ttl_max_ms = host.facts().ttl_max_ms;
  host.begin_with_cleared_trip();
  host.drive(ttl_max_ms);  // the longest one must be accepted
  if (ttl_max_ms == 255) throw CheckNotTested{"ttl_max_ms is 255, COMMAND cannot request more"};
  expect_ttl_trips(host, ttl_max_ms + 1);
  expect_ttl_trips(host, 255);
  return {ttl_max_ms + 1.0, "ms", "tripped, " + std::to_string(ttl_max_ms) + " accepted"};
}

Measurement trips_at_once(TestHost& host) {
  host.begin_with_cleared_trip();
  const ReceivedSample driving = host.drive(host.time_to_live_ms(255));
  const std::uint16_t sequence = host.send_command(COMMAND_TRIP, driving.number, 0);
  ReceivedSample sample = driving;
  while (!sample.is_tripped()) {
    sample = host.next_sample();
    expect(sample.report.command_sequence != sequence || !sample.is_driving(),
           "the sample that reports COMMAND_TRIP still drives");
    expect(sample.time_us < driving.time_us + 1'000'000, "COMMAND_TRIP does not trip");
  }
  expect_trip_cause(sample.report.fault_flags, FAULT_HOST);
  return {static_cast<double>(sample.time_us - driving.time_us) * 1e-3, "ms",
          "from the sample answered"};
}

Measurement hello_while_driving_trips(TestHost& host) {
  host.begin_with_cleared_trip();
  host.drive(host.time_to_live_ms(100));
  const unsigned faults = host.hello().fault_flags;
  expect((faults & FAULT_SESSION) != 0, "after HELLO while driving: {}", fault_names(faults));
  return format_count(1, "trip");
}

Measurement tripped_does_not_drive(TestHost& host) {
  host.begin_with_cleared_trip();
  host.trip();
  constexpr int kCommands = 100;
  for (int k = 0; k < kCommands; ++k) {
    host.send_command(COMMAND_ENABLE, host.last_sample()->number, host.time_to_live_ms(20));
    const ReceivedSample sample = host.next_sample();
    expect(!sample.is_driving(), "a tripped unit reports STATUS_DRIVING");
    expect(sample.is_tripped(), "the trip ends without CLEAR");
  }
  host.read_samples_for(100ms);
  const unsigned faults = host.next_sample().report.fault_flags;
  expect(faults == FAULT_HOST, "COMMANDs to a tripped unit change fault_flags to {}",
         fault_names(faults));
  return format_count(kCommands, "COMMAND", "without effect");
}

Measurement starts_tripped(TestHost& host) {
  const unsigned faults = host.first_hello_reply().fault_flags;
  if ((faults & FAULT_BOOT) == 0 && !host.is_freshly_reset() && !host.settings().after_reset) {
    throw CheckNotTested{"the unit was cleared since its reset; reset it and use --after-reset"};
  }
  expect((faults & FAULT_BOOT) != 0, "after the reset: {}", fault_names(faults));
  return format_count(1, "boot");
}

/// Throws CheckFailed unless the trip was reported correctly. Returns false without a trip; see C2,
/// C3, C8, H3.
bool is_reported_once(const TestHost& host, unsigned fault_flags, const char* name,
                      std::uint8_t cause, int detail) {
  if ((fault_flags & cause) == 0) return false;
  const std::vector<ReceivedFault>& faults = host.received_faults();
  const auto count = std::ranges::count_if(
      faults, [&](const ReceivedFault& fault) { return fault.report.cause == cause; });
  expect(count == 1, "{} is reported by {} FAULTs", name, count);
  expect(faults.size() == 1, "{} is one trip, {} FAULTs come", name, faults.size());
  const fault_report& report = faults.front().report;
  expect((report.fault_flags & cause) != 0, "FAULT of {} has fault_flags {}", name,
         fault_names(report.fault_flags));
  expect(report.detail == detail, "FAULT of {} has detail {}, expected {}", name, report.detail,
         detail);
  const auto last = static_cast<std::uint16_t>((faults.front().samples_before - 1) & 0xFFFF);
  expect(report.sample_sequence == last,
         "FAULT of {} has sample_sequence {}, the last sample was {}", name, report.sample_sequence,
         last);
  const auto late_us = static_cast<std::int32_t>(
      report.tick_us - static_cast<std::uint32_t>(faults.front().time_us & 0xFFFFFFFF));
  expect(late_us >= 0 && late_us <= 1.5 * host.tick_period_us() * host.sample_divider(),
         "FAULT of {} has tick_us {}, the sample before {}", name, report.tick_us,
         faults.front().time_us);
  return true;
}

Measurement reports_trips_once(TestHost& host) {
  const int ttl_ms = host.time_to_live_ms(kTtlWanted_ms);
  const auto flags_now = [&] { return host.next_sample().report.fault_flags; };
  int trips = 0;
  const auto judge = [&](unsigned flags, const char* name, std::uint8_t cause, int detail) {
    trips += is_reported_once(host, flags, name, cause, detail) ? 1 : 0;
  };
  host.begin_with_cleared_trip();
  host.next_sample();
  const std::uint16_t sequence = host.send_command(COMMAND_TRIP, 0, 0);
  host.skip_samples(20);
  host.send_command(COMMAND_TRIP, 0, 0);  // has no further effect
  host.skip_samples(20);
  judge(flags_now(), "COMMAND_TRIP", FAULT_HOST, sequence);

  host.begin_with_cleared_trip();
  host.send_command(COMMAND_ENABLE, host.next_sample().number, 0);
  host.skip_samples(20);
  judge(flags_now(), "ttl_ms 0", FAULT_COMMAND, 0);

  host.begin_with_cleared_trip();
  host.drive(ttl_ms);
  host.read_samples_for(1ms * ttl_ms + 50ms);
  judge(flags_now(), "an expired time to live", FAULT_TTL, ttl_ms);

  host.begin_with_cleared_trip();
  host.drive(host.time_to_live_ms(100));
  const unsigned flags = host.hello().fault_flags;
  host.wait(20ms);
  judge(flags, "HELLO while driving", FAULT_SESSION, 0);
  expect(trips > 0, "nothing trips the unit");
  return format_count(trips, "trip");
}

Measurement latches_flags(TestHost& host) {
  host.begin_with_cleared_trip();
  host.trip();
  for (const int ttl_ms : {0, 255}) {
    host.send_command(COMMAND_ENABLE, host.last_sample()->number, ttl_ms);
    host.read_samples_for(20ms);
  }
  const unsigned both = host.next_sample().report.fault_flags;
  expect(both == (FAULT_HOST | FAULT_COMMAND), "after COMMAND_TRIP and a wrong ttl_ms: {}",
         fault_names(both));
  host.send_command(0, 0);
  host.read_samples_for(100ms);
  const unsigned later = host.hello().fault_flags;
  expect(later == both, "100 ms after {}: {}", fault_names(both), fault_names(later));
  return format_count(2, "flag");
}

}  // namespace

std::vector<ConformanceCheck> trip_checks() {
  return {
      {"C3a", "A COMMAND with ttl_ms 0 trips (FAULT_COMMAND).",
       [](TestHost& host) -> Measurement {
         expect_ttl_trips(host, 0);
         return {0.0, "ms", "tripped"};
       }},
      {"C3b", "A COMMAND with ttl_ms above ttl_max_ms trips (FAULT_COMMAND).", ttl_above_max_trips},
      {"C5", "A rejected COMMAND does not extend the time to live.", rejected_prolongs_nothing},
      {"C6", "The unit drives as long as COMMANDs arrive in time.", drives_while_commands_come},
      {"C8", "The unit trips ttl_ms after the latch of the answered sample (FAULT_TTL).",
       ttl_counts_from_sample},
      {"S2a", "The unit starts tripped (FAULT_BOOT).", starts_tripped},
      {"S2b", "A tripped unit does not drive, for any COMMAND.", tripped_does_not_drive},
      {"C2b", "COMMAND_TRIP trips at once (FAULT_HOST).", trips_at_once},
      {"H3e", "HELLO while driving trips (FAULT_SESSION).", hello_while_driving_trips},
      {"S5", "Each trip is reported once in FAULT, with its cause, detail, sample and time.",
       reports_trips_once},
      {"T8b", "Fault flags are latched: a second cause adds its bit.", latches_flags},
  };
}

}  // namespace firmware_iface::conformance
