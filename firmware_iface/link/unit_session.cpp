// Start and end of sessions and streams: the parts of UnitLink that wait and report Errors.

#include <algorithm>
#include <cassert>
#include <cstdio>

#include "firmware_iface/link/baud_budget.hpp"
#include "firmware_iface/link/unit_link.hpp"
#include "firmware_iface/wire/message_type.h"
#include "firmware_iface/wire/sample.h"
#include "firmware_iface/wire/session.h"

namespace firmware_iface {
namespace {

constexpr std::uint32_t kSamplesSentUnknown = 0xFFFFFFFFU;

std::string hex(std::uint64_t value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

// Returns what is wrong with a unit's description; empty if it is usable.
std::string find_fault(const hello_reply& reply) {
  if (reply.encoder_count < 1 || reply.encoder_count > ENCODERS_MAX) {
    return "reports " + std::to_string(reply.encoder_count) +
           " encoders; this program supports 1 to " + std::to_string(ENCODERS_MAX);
  }
  if (reply.motor_count > MOTORS_MAX) {
    return "reports " + std::to_string(reply.motor_count) +
           " motors; this program supports at most " + std::to_string(MOTORS_MAX);
  }
  if (reply.tick_rate_Hz == 0) return "reports a tick rate of 0 Hz";
  if (reply.ttl_max_ms == 0) return "reports a longest time to live of 0 ms";
  if (reply.inertial_count > INERTIAL_SENSORS_MAX) {
    return "reports " + std::to_string(reply.inertial_count) +
           " inertial sensors; this program supports at most " +
           std::to_string(INERTIAL_SENSORS_MAX);
  }
  for (int k = 0; k < reply.inertial_count; ++k) {
    if (reply.inertial_ticks[k] == 0) {
      return "reports that it never reads inertial sensor " + std::to_string(k);
    }
  }
  return {};
}

// Returns what is wrong with the description of one part; empty if it is usable.
std::string find_fault(const describe_reply& reply) {
  const bool is_motor = reply.part == PART_MOTOR;
  const std::string part = (is_motor ? "motor " : "encoder ") + std::to_string(reply.index);
  if (reply.description.kind > (is_motor ? MOTOR_AMPERE : ENCODER_ABSOLUTE)) {
    return "describes " + part + " as of kind " + std::to_string(reply.description.kind) +
           ", which this program does not support";
  }
  if (is_motor && reply.description.scale == 0) return "reports a command range of 0 for " + part;
  return {};
}

UnitDescription to_facts(const hello_reply& reply) {
  UnitDescription facts;
  facts.protocol_version = reply.protocol_version;
  facts.unit_id = reply.unit_id;
  facts.boot_count = reply.boot_count;
  facts.tick_rate_Hz = reply.tick_rate_Hz;
  facts.ttl_max_ms = reply.ttl_max_ms;
  facts.can_compact = (reply.capabilities & UNIT_CAN_COMPACT) != 0;
  facts.can_be_host_paced = (reply.capabilities & UNIT_CAN_HOST_PACED) != 0;
  facts.can_mark = (reply.capabilities & UNIT_CAN_MARKS) != 0;
  facts.fault_flags = reply.fault_flags;
  facts.configuration_hash = reply.configuration_hash;
  facts.encoder_count = reply.encoder_count;
  facts.motor_count = reply.motor_count;
  facts.inertial_count = reply.inertial_count;
  for (std::size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k)
    facts.inertial_ticks[k] = reply.inertial_ticks[k];
  facts.stream_count = reply.stream_count;
  if (reply.samples_sent != kSamplesSentUnknown) facts.samples_sent = reply.samples_sent;
  return facts;
}

EncoderDescription to_encoder(const part_description& part) {
  return {part.kind == ENCODER_ABSOLUTE, part.scale, part.modulus,
          (part.flags & ENCODER_HAS_INDEX) != 0, (part.flags & ENCODER_HAS_HOME) != 0};
}

}  // namespace

const char* motor_command_unit(int kind) {
  switch (kind) {
    case MOTOR_VOLT:
      return "V";
    case MOTOR_DUTY:
      return "duty";
    case MOTOR_AMPERE:
      return "A";
    default:
      return "?";
  }
}

// Sends the request and reads messages until `accept` returns true for the reply.
IoStatus UnitLink::send_request(std::span<const std::uint8_t> message,
                                const RequestSettings& settings,
                                const std::function<bool()>& accept) {
  for (int attempt = 0; attempt < settings.attempts_max; ++attempt) {
    // A delimiter first ends any incomplete frame in the unit.
    const std::uint8_t delimiter = 0;
    transport_->write({&delimiter, 1});
    write_message(message);
    const Nanoseconds deadline = transport_->now() + settings.reply_timeout;
    do {
      const IoStatus status = read_message(deadline);
      if (status == IoStatus::kClosed) return status;
      if (status == IoStatus::kOk && accept()) return IoStatus::kOk;
    } while (transport_->now() < deadline);
  }
  return IoStatus::kTimeout;
}

Error UnitLink::make_no_answer_error(const std::string& what, IoStatus status,
                                     const RequestSettings& settings) const {
  const std::string& port = transport_->report().description;
  if (status == IoStatus::kClosed) {
    return {ErrorCode::kPortFailed, port + ": closed while waiting for the reply to " + what};
  }
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(settings.reply_timeout *
                                                                            settings.attempts_max);
  std::string detail = port + ": no reply to " + what + " within " +
                       std::to_string(waited.count()) + " ms (" +
                       std::to_string(counters_.bytes_received) + " bytes received, " +
                       std::to_string(frame_counters().damaged_count()) + " damaged frames)";
  detail += counters_.bytes_received == 0
                ? "; check that the unit is powered and the port is the right one"
                : "; check the baud rate";
  return {ErrorCode::kUnitSilent, detail};
}

Result<UnitDescription> UnitLink::connect(const RequestSettings& settings) {
  if (request_sequence_ == 0) {
    // Must differ from that of an earlier process, whose replies may still be on the line.
    request_sequence_ = static_cast<std::uint16_t>((transport_->now().count() / 1000) & 0xFFFF);
  }
  const hello_head head{PROTOCOL_VERSION, LAYOUT_HASH, ++request_sequence_};
  std::array<std::uint8_t, HELLO_SIZE_BYTES> message;
  hello_encode(&head, message.data());
  hello_head answer{};
  const IoStatus status = send_request(message, settings, [&] {
    const std::span<const std::uint8_t> received = decoder_.message();
    return received[0] == MESSAGE_HELLO_REPLY &&
           hello_head_decode(received.data(), received.size(), &answer) &&
           answer.nonce == head.nonce;
  });
  if (status != IoStatus::kOk) return make_no_answer_error("HELLO", status, settings);

  const std::string& port = transport_->report().description;
  if (answer.protocol_version != PROTOCOL_VERSION) {
    const bool is_older = answer.protocol_version < PROTOCOL_VERSION;
    return Error{
        ErrorCode::kProtocolVersion,
        port + ": the unit uses protocol version " + std::to_string(answer.protocol_version) +
            ", this program version " + std::to_string(PROTOCOL_VERSION) +
            (is_older ? "; flash the unit with the firmware of this release, "
                        "firmware_iface/firmware (docs/how-to/build-a-unit.md)"
                      : "; install the release of rigcal that matches the unit's firmware")};
  }
  if (answer.layout_hash != LAYOUT_HASH) {
    return Error{ErrorCode::kLayoutMismatch, port + ": the unit was built with message layout " +
                                                 hex(answer.layout_hash) + ", this program with " +
                                                 hex(LAYOUT_HASH) +
                                                 "; build both from the same firmware_iface/wire"};
  }
  hello_reply reply{};
  const std::span<const std::uint8_t> received = decoder_.message();
  if (!hello_reply_decode(received.data(), received.size(), &reply)) {
    return Error{ErrorCode::kLayoutMismatch,
                 port + ": HELLO_REPLY of " + std::to_string(received.size()) +
                     " bytes, expected " + std::to_string(HELLO_REPLY_SIZE_BYTES)};
  }
  if (const std::string fault = find_fault(reply); !fault.empty()) {
    return Error{ErrorCode::kUnitRefused, port + ": unit " + hex(reply.unit_id) + " " + fault};
  }
  const bool known = connected_before_ && facts_.unit_id == reply.unit_id;
  facts_ = to_facts(reply);
  if (!known) last_counted_stream_ = facts_.stream_count;  // earlier streams were of other hosts
  count_ended_stream();
  streaming_ = false;
  connected_before_ = true;
  if (Status described = request_descriptions(reply, settings); !described.ok())
    return described.error();
  return facts_;
}

Status UnitLink::request_descriptions(const hello_reply& reply, const RequestSettings& settings) {
  std::array<part_description, ENCODERS_MAX> encoder{};
  std::array<part_description, MOTORS_MAX> motor{};
  const std::string unit = transport_->report().description + ": unit " + hex(reply.unit_id) + " ";
  const int part_count = facts_.encoder_count + facts_.motor_count;
  for (int k = 0; k < part_count; ++k) {
    const bool is_motor = k >= facts_.encoder_count;
    const int index = is_motor ? k - facts_.encoder_count : k;
    const describe_request ask{static_cast<std::uint8_t>(is_motor ? PART_MOTOR : PART_ENCODER),
                               static_cast<std::uint8_t>(index)};
    std::array<std::uint8_t, DESCRIBE_SIZE_BYTES> message;
    describe_request_encode(&ask, message.data());
    describe_reply answer{};
    const IoStatus status = send_request(message, settings, [&] {
      const std::span<const std::uint8_t> received = decoder_.message();
      return describe_reply_decode(received.data(), received.size(), &answer) &&
             answer.part == ask.part && answer.index == ask.index;
    });
    if (status != IoStatus::kOk) return make_no_answer_error("DESCRIBE", status, settings);
    if (const std::string fault = find_fault(answer); !fault.empty()) {
      return Error{ErrorCode::kUnitRefused, unit + fault};
    }
    const part_description& part = answer.description;
    const auto at = static_cast<std::size_t>(index);
    if (is_motor) {
      motor[at] = part;
      facts_.motor[at] = {part.kind, part.scale * 1e-3};
    } else {
      encoder[at] = part;
      facts_.encoder[at] = to_encoder(part);
    }
  }
  const std::uint32_t expected = unit_configuration_hash(&reply, encoder.data(), motor.data());
  if (reply.configuration_hash != expected) {
    return Error{ErrorCode::kUnitRefused, unit + "reports configuration hash " +
                                              hex(reply.configuration_hash) +
                                              ", but its description hashes to " + hex(expected)};
  }
  return success();
}

// Counts the samples of the unit's last stream, which the HELLO ended, unless they are counted
// already. If it is not the running stream, its CONFIGURE_REPLY and all its samples were lost.
void UnitLink::count_ended_stream() noexcept {
  if (facts_.stream_count == last_counted_stream_ || !facts_.samples_sent) return;
  if (streaming_ && facts_.stream_count == stream_number_) {
    finish_sample_counts(*facts_.samples_sent);
  } else {
    counters_.samples_lost += *facts_.samples_sent;
    if (*facts_.samples_sent > 0) ++counters_.gaps;
  }
  last_counted_stream_ = facts_.stream_count;
}

// A sensor can be read only with a sample, and the unit reads it at fixed ticks.
Status UnitLink::check_inertial_dividers(const StreamSettings& stream) const {
  for (std::size_t k = 0; k < stream.inertial_divider.size(); ++k) {
    const int divider = stream.inertial_divider[k];
    if (divider == 0) continue;
    std::string sensor = transport_->report().description + ": inertial sensor ";
    sensor += std::to_string(k);
    if (static_cast<int>(k) >= facts_.inertial_count) {
      return Error{ErrorCode::kUnitRefused, sensor + " is requested, but the unit has " +
                                                std::to_string(facts_.inertial_count)};
    }
    if (divider < 0 || divider > 255 || divider * stream.divider % facts_.inertial_ticks[k] != 0) {
      return Error{ErrorCode::kUnitRefused,
                   sensor + " is requested every " + std::to_string(divider) + " samples of " +
                       std::to_string(stream.divider) + " ticks, but the unit reads it every " +
                       std::to_string(facts_.inertial_ticks[k]) +
                       " ticks; choose a divider from 1 to 255 that gives a multiple of these"};
    }
  }
  return success();
}

Status UnitLink::check_stream_settings(const StreamSettings& stream) const {
  const auto refuse = [&](const std::string& what) {
    return Error{ErrorCode::kUnitRefused, transport_->report().description + ": " + what};
  };
  if (stream.divider < 1 || stream.divider > 255) {
    return refuse("divider " + std::to_string(stream.divider) + "; choose a value from 1 to 255");
  }
  if (stream.command_age_ticks < 1 || stream.command_age_ticks > 255) {
    return refuse("command_age_ticks " + std::to_string(stream.command_age_ticks) +
                  "; choose a value from 1 to 255");
  }
  if (stream.host_paced && !facts_.can_be_host_paced) {
    return refuse("the unit does not support host-paced sampling");
  }
  if (stream.marks && !facts_.can_mark) {
    return refuse("the unit reads no index pulses or home switches");
  }
  if (!stream.compact) return success();
  const sample_shape of_unit{static_cast<std::uint8_t>(facts_.encoder_count),
                             static_cast<std::uint8_t>(facts_.motor_count), stream.marks};
  if (!facts_.can_compact) return refuse("the unit does not support the compact format");
  if (!sample_shape_is_compact(of_unit)) {
    return refuse("the compact format has one motor, at most " +
                  std::to_string(COMPACT_ENCODERS_MAX) +
                  " encoders and no index pulses; use the full format");
  }
  for (const EncoderDescription& encoder : facts_.encoder) {
    if (encoder.modulus <= (1U << kCompactBits.encoder_counts)) continue;
    return refuse("an encoder counts modulo " + std::to_string(encoder.modulus) +
                  ", more than the 24 bits of the compact format; use the full format");
  }
  return success();
}

Status UnitLink::start_stream(const StreamSettings& stream, const RequestSettings& settings) {
  assert(!streaming_);
  const std::string& port = transport_->report().description;
  if (Status possible = check_stream_settings(stream); !possible.ok()) return possible;
  if (Status asked_for = check_inertial_dividers(stream); !asked_for.ok()) return asked_for;
  if (const std::optional<int> baud_rate = transport_->report().baud_rate) {
    const auto is_read = [](int divider) { return divider > 0; };
    const auto inertial_count = std::ranges::count_if(stream.inertial_divider, is_read);
    const LinkTraffic traffic{facts_.encoder_count, facts_.tick_rate_Hz / stream.divider,
                              stream.compact,       static_cast<int>(inertial_count),
                              facts_.motor_count,   stream.marks};
    if (const auto budget = check_baud_budget(*baud_rate, traffic); !budget.ok()) {
      return Error{budget.error().code, port + ": " + budget.error().detail};
    }
  }
  const int flags = STREAM_ON | (stream.compact ? STREAM_COMPACT : 0) |
                    (stream.host_paced ? STREAM_HOST_PACED : 0) | (stream.marks ? STREAM_MARKS : 0);
  const Nanoseconds asked = transport_->now();
  const Result<ConfigureAnswer> answer =
      send_configure(static_cast<std::uint8_t>(flags), stream, settings, {});
  if (!answer.ok()) return answer.error();  // only a HELLO can find out whether the unit streams
  stream_ = stream;
  stream_number_ = answer.value().stream_count;
  const double period_us = stream.host_paced ? 0.0 : 1e6 * stream.divider / facts_.tick_rate_Hz;
  tracker_ = SampleTracker(stream.compact ? kCompactBits : kFullBits, answer.value().start_tick_us,
                           period_us, asked, facts_);
  clock_.reset();
  streaming_ = true;
  sample_seen_ = false;
  inertial_ = {};
  implausible_in_a_row_ = 0;
  echoed_command_ = 0;
  return success();
}

Result<FinalSampleCounts> UnitLink::stop_stream(
    const std::function<void(const UnitSample&)>& late_sample, const RequestSettings& settings) {
  const Result<ConfigureAnswer> answer = send_configure(0, {}, settings, late_sample);
  if (!answer.ok()) return answer.error();
  FinalSampleCounts end{answer.value().samples_sent, 0};
  if (streaming_) {
    end = finish_sample_counts(answer.value().samples_sent);
    last_counted_stream_ = stream_number_;
  }
  streaming_ = false;
  return end;
}

Result<UnitLink::ConfigureAnswer> UnitLink::send_configure(
    std::uint8_t flags, const StreamSettings& stream, const RequestSettings& settings,
    const std::function<void(const UnitSample&)>& late_sample) {
  configure_request ask{++request_sequence_,
                        flags,
                        static_cast<std::uint8_t>(stream.divider),
                        static_cast<std::uint8_t>(stream.command_age_ticks),
                        {}};
  for (std::size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
    ask.inertial_divider[k] = static_cast<std::uint8_t>(stream.inertial_divider[k]);
  }
  std::array<std::uint8_t, CONFIGURE_SIZE_BYTES> message;
  configure_request_encode(&ask, message.data());
  configure_reply reply{};
  UnitSample sample;
  const IoStatus status = send_request(message, settings, [&] {
    const std::span<const std::uint8_t> received = decoder_.message();
    if (received[0] == MESSAGE_SAMPLE || received[0] == MESSAGE_SAMPLE_COMPACT) {
      // A sample of the old stream, or of the new one if its reply was lost, which leaves a gap.
      if (late_sample && process_sample(sample)) late_sample(sample);
      return false;
    }
    if (received[0] == MESSAGE_INERTIAL && late_sample) process_inertial();
    return configure_reply_decode(received.data(), received.size(), &reply) &&
           reply.sequence == ask.sequence;
  });
  if (status != IoStatus::kOk) return make_no_answer_error("CONFIGURE", status, settings);
  if (reply.result != CONFIGURE_DONE || reply.flags != flags) {
    return Error{ErrorCode::kUnitRefused, transport_->report().description +
                                              ": the unit refused CONFIGURE with result " +
                                              std::to_string(reply.result)};
  }
  return ConfigureAnswer{reply.samples_sent, reply.start_tick_us, reply.stream_count};
}

// Counts samples that the unit sent after the last received one as lost. The unit reports the low
// 32 bits of its count; a count that is half of their range ahead is one that is too small.
FinalSampleCounts UnitLink::finish_sample_counts(std::uint32_t samples_sent) noexcept {
  const std::uint64_t seen = tracker_.next_sequence();
  const std::uint32_t lost = samples_sent - static_cast<std::uint32_t>(seen);
  if (lost > 0x7FFF'FFFFU) return {samples_sent, 0};
  counters_.samples_lost += lost;
  if (lost > 0) ++counters_.gaps;
  return {seen + lost, lost};
}

}  // namespace firmware_iface
