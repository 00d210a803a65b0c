// Checks of HELLO and DESCRIBE.

#include <algorithm>

#include "firmware_iface/conformance/check.hpp"
#include "firmware_iface/wire/message_type.h"
#include "firmware_iface/wire/sample.h"

namespace firmware_iface::conformance {
namespace {

using namespace std::chrono_literals;

constexpr const char* kNotFresh =
    "the unit has already received a HELLO since its reset; reset it and use --after-reset";

/// Sends a HELLO with the given head, padded to size_bytes, and returns the head of the reply.
hello_head answered_head(TestHost& host, const hello_head& head, std::size_t size_bytes) {
  Bytes message = encode_message(head);
  message.resize(size_bytes, 0xA5);
  hello_head answer{};
  host.send_request("HELLO of " + std::to_string(size_bytes) + " bytes", message,
                    MESSAGE_HELLO_REPLY, [&](const Bytes& reply) {
                      return hello_head_decode(reply.data(), reply.size(), &answer) &&
                             answer.nonce == head.nonce;
                    });
  return answer;
}

void expect_own_head(const hello_head& answer) {
  expect(answer.protocol_version == PROTOCOL_VERSION && answer.layout_hash == LAYOUT_HASH,
         "the answer has version {} and layout {:#x}, not {} and {:#x}", answer.protocol_version,
         answer.layout_hash, PROTOCOL_VERSION, LAYOUT_HASH);
}

Measurement is_silent_before_hello(TestHost& host) {
  if (!host.is_freshly_reset() && !host.settings().after_reset) throw CheckNotTested{kNotFresh};
  for (const auto& [type, count] : host.message_counts_before_hello()) {
    expect(type == MESSAGE_FAULT, "{} messages of type {:#x} come without a request", count,
           static_cast<unsigned>(type));
  }
  return {200.0, "ms", "without a message"};
}

Measurement replies_in_time(TestHost& host) {
  constexpr Nanoseconds kReplyMax = 50ms;
  constexpr int kRounds = 10;
  Nanoseconds longest{0};
  std::string slowest;
  const auto measure = [&](const std::string& name) {
    if (host.last_reply_time() <= longest) return;
    longest = host.last_reply_time();
    slowest = name;
  };
  for (int k = 0; k < kRounds; ++k) {
    host.begin();
    measure("HELLO");
    host.request_description(PART_ENCODER, 0);
    measure("DESCRIBE");
    host.send_configure(RequestedStream{});
    measure("CONFIGURE");
    host.clear(1, 0);
    measure("CLEAR");
    host.request_description(PART_ENCODER, 0);
    measure("DESCRIBE during a stream");
    host.hello();
    measure("HELLO during a stream");
  }
  const double longest_ms = std::chrono::duration<double, std::milli>(longest).count();
  expect(longest <= kReplyMax, "{} is answered after {} ms, allowed are 50 ms", slowest,
         format_value(longest_ms));
  return {longest_ms, "ms", "at most"};
}

Measurement answers_hello(TestHost& host) {
  for (const int nonce : {0, 1, 0xFFFF, 0x1234}) {
    expect_own_head(
        answered_head(host, {PROTOCOL_VERSION, LAYOUT_HASH, static_cast<std::uint16_t>(nonce)},
                      HELLO_SIZE_BYTES));
  }
  return format_count(4, "HELLO", "answered with version 2");
}

Measurement answers_other_versions(TestHost& host) {
  std::uint16_t nonce = 0x2000;
  for (const int version : {1, PROTOCOL_VERSION + 1, 255}) {
    for (const std::size_t size_bytes : {8U, 20U, 57U}) {
      expect_own_head(answered_head(
          host, {static_cast<std::uint8_t>(version), LAYOUT_HASH, ++nonce}, size_bytes));
    }
  }
  return format_count(9, "HELLO", "of versions 1, 3 and 255");
}

Measurement answers_other_layouts(TestHost& host) {
  std::uint16_t nonce = 0x3000;
  for (const std::uint32_t layout : {LAYOUT_HASH ^ 1U, ~LAYOUT_HASH, 0U}) {
    expect_own_head(answered_head(host, {PROTOCOL_VERSION, layout, ++nonce}, HELLO_SIZE_BYTES));
  }
  return format_count(3, "layout");
}

Measurement hello_ends_stream(TestHost& host) {
  constexpr Nanoseconds kSilence = 150ms;
  host.begin_stream();
  host.skip_samples(20);
  host.hello();
  const int before = host.received_message_count(MESSAGE_SAMPLE);
  host.wait(kSilence);
  const int after = host.received_message_count(MESSAGE_SAMPLE) - before;
  expect(after == 0, "{} samples come after HELLO_REPLY", after);
  return {150.0, "ms", "without a sample"};
}

Measurement hello_reports_samples_sent(TestHost& host) {
  std::int64_t sent = 0;
  for (const int count : {1, 37, 0}) {
    const configure_reply stream = host.begin_stream();
    host.skip_samples(count);
    const hello_reply facts = host.hello();
    sent = host.last_sample() ? host.last_sample()->number + 1 : 0;
    expect(facts.samples_sent == static_cast<std::uint32_t>(sent),
           "samples_sent is {}, the stream had {} samples", facts.samples_sent, sent);
    expect(facts.stream_count == stream.stream_count,
           "stream_count is {}, in CONFIGURE_REPLY it was {}", facts.stream_count,
           stream.stream_count);
  }
  return format_count(3, "stream");
}

Measurement facts_are_constant_and_possible(TestHost& host) {
  const hello_reply& first = host.first_hello_reply();
  const auto within = [](const char* name, int value, int low, int high) {
    expect(value >= low && value <= high, "{} is {}, valid are {} to {}", name, value, low, high);
  };
  within("encoder_count", first.encoder_count, 1, ENCODERS_MAX);
  within("motor_count", first.motor_count, 0, MOTORS_MAX);
  within("inertial_count", first.inertial_count, 0, INERTIAL_SENSORS_MAX);
  within("tick_rate_Hz", first.tick_rate_Hz, 1, 0xFFFF);
  within("ttl_max_ms", first.ttl_max_ms, 1, 255);
  for (int k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
    const bool exists = k < first.inertial_count;
    within("inertial_ticks", first.inertial_ticks[k], exists ? 1 : 0, exists ? 255 : 0);
  }
  within("capabilities", first.capabilities, 0,
         UNIT_CAN_COMPACT | UNIT_CAN_HOST_PACED | UNIT_CAN_MARKS);
  for (int k = 0; k < 3; ++k) {
    host.begin();
    hello_reply again = host.facts();
    again.nonce = first.nonce;
    again.boot_count = first.boot_count;
    again.fault_flags = first.fault_flags;
    again.stream_count = first.stream_count;
    again.samples_sent = first.samples_sent;
    Bytes a(HELLO_REPLY_SIZE_BYTES);
    Bytes b(HELLO_REPLY_SIZE_BYTES);
    hello_reply_encode(&first, a.data());
    hello_reply_encode(&again, b.data());
    const auto difference = std::ranges::mismatch(a, b);
    expect(difference.in1 == a.end(), "HELLO_REPLY differs from the first one in byte {}",
           difference.in1 - a.begin());
  }
  return {static_cast<double>(first.tick_rate_Hz), "Hz",
          "ttl_max_ms " + std::to_string(first.ttl_max_ms)};
}

void expect_possible(const describe_reply& reply) {
  const bool is_motor = reply.part == PART_MOTOR;
  const part_description& part = reply.description;
  const std::string name = (is_motor ? "motor " : "encoder ") + std::to_string(reply.index);
  expect(part.kind <= (is_motor ? MOTOR_AMPERE : ENCODER_ABSOLUTE), "{} is of kind {}", name,
         part.kind);
  expect(part.flags <= (is_motor ? 0 : ENCODER_HAS_INDEX | ENCODER_HAS_HOME), "{} has flags {:#x}",
         name, part.flags);
  if (!is_motor) return;
  expect(part.scale >= 1, "{} has scale 0", name);
  expect(part.modulus == 0, "{} has modulus {}", name, part.modulus);
}

Measurement describes_each_part(TestHost& host) {
  host.begin();
  const hello_reply& facts = host.facts();
  for (int k = 0; k < std::min<int>(facts.encoder_count, ENCODERS_MAX); ++k) {
    expect_possible(host.request_description(PART_ENCODER, static_cast<std::uint8_t>(k)));
  }
  for (int k = 0; k < host.motor_count(); ++k) {
    expect_possible(host.request_description(PART_MOTOR, static_cast<std::uint8_t>(k)));
  }
  return format_count(facts.encoder_count + host.motor_count(), "part", "described");
}

Measurement reports_missing_parts(TestHost& host) {
  host.begin();
  const hello_reply& facts = host.facts();
  const std::vector<describe_request> missing = {{PART_ENCODER, facts.encoder_count},
                                                 {PART_ENCODER, 255},
                                                 {PART_MOTOR, facts.motor_count},
                                                 {PART_MOTOR, 255},
                                                 {2, 0},
                                                 {255, 0}};
  for (const describe_request& request : missing) {
    const part_description part = host.request_description(request.part, request.index).description;
    const std::string name = fmt::format("part {}, index {}", request.part, request.index);
    expect(part.kind == PART_MISSING, "{} has kind {}", name, part.kind);
    expect(part.flags == 0 && part.scale == 0 && part.modulus == 0,
           "{} is missing, but its other fields are not 0", name);
  }
  return format_count(missing.size(), "part", "missing");
}

Measurement hashes_configuration(TestHost& host) {
  host.begin();
  const hello_reply& facts = host.facts();
  const std::uint32_t hash =
      unit_configuration_hash(&facts, host.encoders().data(), host.motors().data());
  expect(facts.configuration_hash == hash,
         "configuration_hash is {:#x}, the facts and descriptions give {:#x}",
         facts.configuration_hash, hash);
  return format_count(facts.encoder_count + host.motor_count(), "description",
                      fmt::format("{:#x}", hash));
}

Measurement refuses_configure_before_hello(TestHost& host) {
  const auto& answer = host.first_configure_reply();
  expect(answer.has_value(), "CONFIGURE before HELLO is not answered");
  if (answer->result == CONFIGURE_NO_SESSION) return format_count(1, "CONFIGURE", "refused");
  if (!host.settings().after_reset) throw CheckNotTested{kNotFresh};
  throw CheckFailed{"CONFIGURE before HELLO is answered with result " +
                    std::to_string(answer->result)};
}

Measurement compact_is_possible(TestHost& host) {
  const hello_reply& facts = host.facts();
  if ((facts.capabilities & UNIT_CAN_COMPACT) == 0) {
    throw CheckNotTested{"the unit has no compact format"};
  }
  expect(facts.motor_count == 1 && facts.encoder_count <= COMPACT_ENCODERS_MAX,
         "the unit has {} encoders and {} motors", facts.encoder_count, facts.motor_count);
  for (std::size_t k = 0; k < facts.encoder_count; ++k) {
    const std::uint32_t modulus = host.encoders()[k].modulus;
    expect(modulus <= 1U << 24U, "encoder {} has modulus {}", k, modulus);
  }
  return format_count(facts.encoder_count, "encoder");
}

}  // namespace

std::vector<ConformanceCheck> session_checks() {
  return {
      {"H1", "Before the first HELLO after a reset the unit sends only FAULT without a request.",
       is_silent_before_hello},
      {"H2", "HELLO, DESCRIBE, CONFIGURE and CLEAR are answered within 50 ms.", replies_in_time},
      {"H3a", "HELLO is answered with version 2, this layout hash and its nonce.", answers_hello},
      {"H3b",
       "HELLO of another protocol version, 8 to 57 bytes long, "
       "gets a reply with the unit's version.",
       answers_other_versions},
      {"H3c", "HELLO with another layout hash gets a reply with the unit's layout hash.",
       answers_other_layouts},
      {"H3d", "HELLO ends the stream.", hello_ends_stream},
      {"H4", "HELLO_REPLY contains a valid description of the unit, the same in each reply.",
       facts_are_constant_and_possible},
      {"H5", "samples_sent of HELLO_REPLY is the number of samples in the last stream.",
       hello_reports_samples_sent},
      {"H6a", "DESCRIBE is answered for each encoder and motor with a valid description.",
       describes_each_part},
      {"H6b", "DESCRIBE of a part that the unit does not have is answered with PART_MISSING.",
       reports_missing_parts},
      {"H7", "CONFIGURE before the first HELLO after a reset is refused: CONFIGURE_NO_SESSION.",
       refuses_configure_before_hello},
      {"H12", "configuration_hash is the hash of HELLO_REPLY and all descriptions.",
       hashes_configuration},
      {"K1", "A unit with the compact format has one motor and at most 4 encoders.",
       compact_is_possible},
  };
}

}  // namespace firmware_iface::conformance
