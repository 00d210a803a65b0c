// Checks of CONFIGURE: refusals, repetitions and effects.

#include <algorithm>

#include "firmware_iface/conformance/check.hpp"
#include "firmware_iface/wire/message_type.h"

namespace firmware_iface::conformance {
namespace {

using namespace std::chrono_literals;

constexpr unsigned kKnownFlags = STREAM_ON | STREAM_COMPACT | STREAM_HOST_PACED | STREAM_MARKS;

bool can(const TestHost& host, int capability) {
  return (host.facts().capabilities & capability) != 0;
}

/// Sends a CONFIGURE for each stream in a separate session. The unit must refuse all.
Measurement expect_unsupported(TestHost& host, const std::vector<RequestedStream>& streams) {
  for (const RequestedStream& stream : streams) {
    host.begin();
    configure_request request = host.make_configure_request(stream);
    request.divider = static_cast<std::uint8_t>(std::max(stream.divider, 0));
    const configure_reply reply = host.send_configure_request(request);
    expect(reply.result == CONFIGURE_UNSUPPORTED,
           "CONFIGURE with flags {:#x}, divider {}, "
           "command_age_ticks {} is answered with result {}, not with CONFIGURE_UNSUPPORTED (1)",
           request.flags, request.divider, request.command_age_ticks, reply.result);
  }
  return format_count(streams.size(), "CONFIGURE", "refused");
}

Measurement refuses_flags(TestHost& host) {
  std::vector<RequestedStream> streams;
  const auto add = [&](unsigned flags) {
    streams.push_back({.flags = static_cast<std::uint8_t>(flags), .divider = 10});
  };
  for (unsigned bit = 1; bit <= 0x80; bit <<= 1U) {
    if ((kKnownFlags & bit) == 0) add(STREAM_ON | bit);
  }
  if (!can(host, UNIT_CAN_COMPACT)) add(STREAM_ON | STREAM_COMPACT);
  if (!can(host, UNIT_CAN_HOST_PACED)) add(STREAM_ON | STREAM_HOST_PACED);
  if (!can(host, UNIT_CAN_MARKS)) add(STREAM_ON | STREAM_MARKS);
  add(STREAM_ON | STREAM_COMPACT | STREAM_MARKS);
  return expect_unsupported(host, streams);
}

Measurement refuses_divider_zero(TestHost& host) {
  return expect_unsupported(host, {{.flags = STREAM_ON, .divider = -1}});
}

Measurement refuses_age_zero(TestHost& host) {
  return expect_unsupported(host, {{.divider = 10, .command_age_ticks = 0}});
}

Measurement refuses_inertial_dividers(TestHost& host) {
  std::vector<RequestedStream> streams;
  const hello_reply& facts = host.facts();
  for (std::size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
    RequestedStream stream{.divider = 1};
    const bool exists = k < facts.inertial_count;
    if (exists && facts.inertial_ticks[k] < 2) continue;  // every divider is valid
    stream.inertial_divider[k] = 1;
    streams.push_back(stream);
  }
  if (streams.empty()) throw CheckNotTested{"the unit reads four inertial sensors at each tick"};
  return expect_unsupported(host, streams);
}

/// A running stream, a CONFIGURE that the unit refuses, and both replies. Other checks examine
/// which requests are refused.
struct Refusal {
  configure_request request;  // of the running stream
  configure_reply stream;
  configure_reply reply;
  ReceivedSample before;
};

Refusal refuse_during_stream(TestHost& host) {
  constexpr int kOther = 7;
  for (const RequestedStream& bad : {RequestedStream{.flags = STREAM_ON | 0x80, .divider = kOther},
                                     RequestedStream{.divider = kOther, .command_age_ticks = 0}}) {
    host.begin();
    const configure_request request = host.make_configure_request({});
    const configure_reply stream = host.send_configure_request(request);
    host.skip_samples(5);
    const ReceivedSample before = host.next_sample();
    const configure_reply reply = host.send_configure(bad);
    if (reply.result == CONFIGURE_UNSUPPORTED) return {request, stream, reply, before};
  }
  throw CheckFailed{
      "the unit refuses no CONFIGURE, neither with flag 0x80 nor with command_age_ticks 0"};
}

Measurement refusal_changes_nothing(TestHost& host) {
  const auto [request, stream, reply, before] = refuse_during_stream(host);
  expect(reply.flags == stream.flags && reply.divider == stream.divider,
         "the refusal reports flags {:#x} and divider {}, the current ones are {:#x} and {}",
         reply.flags, reply.divider, stream.flags, stream.divider);
  expect(
      reply.stream_count == stream.stream_count && reply.samples_sent == 0 &&
          reply.start_tick_us == 0,
      "the refusal reports stream_count {}, samples_sent {}, start_tick_us {}; expected {}, 0, 0",
      reply.stream_count, reply.samples_sent, reply.start_tick_us, stream.stream_count);
  const ReceivedSample after = host.read_sample_until(
      [number = before.number](const ReceivedSample& sample) {
        return sample.number >= number + 20;
      },
      "the stream continues after a refused CONFIGURE");
  const double period_us = static_cast<double>(after.time_us - before.time_us) /
                           static_cast<double>(after.number - before.number);
  const double expected_us = host.tick_period_us() * stream.divider;
  expect(period_us < 1.5 * expected_us && period_us > 0.5 * expected_us,
         "after a refused CONFIGURE samples come every {} us, before every {} us",
         format_value(period_us), format_value(expected_us));
  return format_count(after.number - before.number, "sample", "after the refusal");
}

Measurement repeats_its_answer(TestHost& host) {
  host.begin();
  const configure_request request = host.make_configure_request({});
  const configure_reply first = host.send_configure_request(request);
  expect(first.result == CONFIGURE_DONE, "CONFIGURE is not carried out");
  host.skip_samples(10);
  for (int k = 0; k < 3; ++k) {
    const std::int64_t before = host.next_sample().number;
    const configure_reply again = host.send_configure_request(request);
    Bytes a(CONFIGURE_REPLY_SIZE_BYTES);
    Bytes b(CONFIGURE_REPLY_SIZE_BYTES);
    configure_reply_encode(&first, a.data());
    configure_reply_encode(&again, b.data());
    expect(a == b,
           "the answer to a repeated CONFIGURE differs: stream_count {}, before {}; "
           "start_tick_us {}, before {}",
           again.stream_count, first.stream_count, again.start_tick_us, first.start_tick_us);
    // Not next_sample: configure() counts samples after a reply as those of a new stream.
    const ReceivedSample after = host.next_sample();
    expect(after.number > before,
           "after a repeated CONFIGURE the stream goes on with number {}, before it came {}",
           after.number, before);
  }
  const std::uint16_t streams = host.hello().stream_count;
  expect(streams == first.stream_count, "repeated CONFIGUREs start {} streams",
         streams - first.stream_count);
  // Repetitions are recognized only within a session.
  configure_reply reply = host.send_configure_request(request);
  expect(
      reply.stream_count != first.stream_count,
      "after HELLO a CONFIGURE with the sequence number of an earlier CONFIGURE starts no stream");
  return format_count(3, "repetition", "same answer");
}

Measurement repeats_its_answer_after_refusal(TestHost& host) {
  const Refusal refusal = refuse_during_stream(host);
  const configure_reply again = host.send_configure_request(refusal.request);
  expect(again.result == CONFIGURE_DONE && again.stream_count == refusal.stream.stream_count,
         "after a refusal a repeated CONFIGURE is answered with result {} and stream_count {}, "
         "the first time with 0 and {}",
         again.result, again.stream_count, refusal.stream.stream_count);
  return format_count(1, "repetition", "same answer");
}

Measurement configure_ends_stream(TestHost& host) {
  constexpr Nanoseconds kSilence = 150ms;
  std::int64_t sent = 0;
  for (const int count : {2, 53}) {
    const std::uint32_t before_first = host.begin_stream().samples_sent;
    expect(before_first == 0,
           "the first stream after HELLO ended no other stream, but samples_sent is {}",
           before_first);
    host.skip_samples(count);
    const configure_reply reply = host.send_configure({.flags = 0});
    expect(reply.result == CONFIGURE_DONE, "CONFIGURE without STREAM_ON is answered with result {}",
           reply.result);
    sent = host.last_sample()->number + 1;
    const int before = host.received_message_count(MESSAGE_SAMPLE);
    host.wait(kSilence);
    const int after = host.received_message_count(MESSAGE_SAMPLE) - before;
    expect(after == 0, "{} samples come after the stream's end", after);
    expect(reply.samples_sent == static_cast<std::uint32_t>(sent),
           "samples_sent is {}, the last sample was number {}", reply.samples_sent, sent - 1);
  }
  return format_count(sent, "sample", "sent and reported");
}

Measurement starts_stream_anew(TestHost& host) {
  const configure_reply first = host.begin_stream();
  for (int k = 0; k < 10; ++k) {
    host.send_command(0, 0);
    host.next_sample();
  }
  // COMMAND and CONFIGURE reach most units within one tick.
  host.send_command(0, 0);
  const configure_request request = host.make_configure_request({});
  const configure_reply second = host.send_configure_request(request);
  expect(second.result == CONFIGURE_DONE,
         "a CONFIGURE that requests another stream is not carried out");
  expect(second.flags == request.flags && second.divider == request.divider,
         "CONFIGURE_REPLY has flags {:#x} and divider {}, requested were {:#x} and {}",
         second.flags, second.divider, request.flags, request.divider);
  expect(second.stream_count == static_cast<std::uint16_t>(first.stream_count + 1),
         "stream_count is {} after {}", second.stream_count, first.stream_count);
  const ReceivedSample sample = host.next_sample();
  expect(sample.number == 0, "the first sample of the next stream has number {}", sample.number);
  expect(!sample.has_seen_command() && !sample.has_rejected(),
         "the first sample of the next stream reports a COMMAND of the stream before: {}",
         status_names(sample.report.status));
  return format_count(2, "stream");
}

Measurement configure_while_driving_trips(TestHost& host) {
  for (const std::uint8_t flags : {std::uint8_t{STREAM_ON}, std::uint8_t{0}}) {
    host.begin_with_cleared_trip();
    host.drive(host.time_to_live_ms(100));
    const configure_reply reply = host.send_configure({.flags = flags});
    expect(reply.result == CONFIGURE_DONE, "CONFIGURE while driving is answered with result {}",
           reply.result);
    const unsigned faults =
        flags != 0 ? host.next_sample().report.fault_flags : host.hello().fault_flags;
    expect((faults & FAULT_SESSION) != 0, "after CONFIGURE with flags {:#x} while driving: {}",
           flags, fault_names(faults));
  }
  return format_count(2, "trip");
}

}  // namespace

std::vector<ConformanceCheck> configure_checks() {
  return {
      {"H8a", "CONFIGURE with an unknown or unsupported flag is refused.", refuses_flags},
      {"H8b", "CONFIGURE with divider 0 is refused.", refuses_divider_zero},
      {"H8c", "CONFIGURE with command_age_ticks 0 is refused.", refuses_age_zero},
      {"H8d", "A CONFIGURE that requests unsupported inertial readings is refused.",
       refuses_inertial_dividers},
      {"H9", "A refused CONFIGURE changes nothing and reports the current settings.",
       refusal_changes_nothing},
      {"H10a", "CONFIGURE without STREAM_ON ends the stream and reports samples_sent exactly.",
       configure_ends_stream},
      {"H10b", "CONFIGURE with STREAM_ON starts a stream: number 0, stream_count one more.",
       starts_stream_anew},
      {"H10c", "CONFIGURE while driving trips (FAULT_SESSION).", configure_while_driving_trips},
      {"H11a", "A repeated CONFIGURE gets the same answer and starts no second stream.",
       repeats_its_answer},
      {"H11b", "A repeated CONFIGURE gets the same answer also after another one was refused.",
       repeats_its_answer_after_refusal},
  };
}

}  // namespace firmware_iface::conformance
