#include "firmware_iface/conformance/test_host.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "firmware_iface/link/baud_budget.hpp"
#include "firmware_iface/wire/coding/bytes.h"
#include "firmware_iface/wire/coding/cobs.h"
#include "firmware_iface/wire/coding/crc.h"
#include "firmware_iface/wire/frame.h"
#include "firmware_iface/wire/message_type.h"

namespace firmware_iface::conformance {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kListenTime = 200ms;    // before the first message
constexpr Nanoseconds kReplyTimeout = 250ms;  // five times the limit in PROTOCOL.md
constexpr int kAttempts = 4;
constexpr Nanoseconds kReadSlice = 5ms;
constexpr int kCommandsToDrive = 60;

template <int kSizeBytes>
Bytes encoded(auto encode, const auto& message) {
  Bytes bytes(kSizeBytes);
  encode(&message, bytes.data());
  return bytes;
}

}  // namespace

Bytes encode_message(const hello_head& head) {
  return encoded<HELLO_SIZE_BYTES>(hello_encode, head);
}

Bytes encode_message(const describe_request& request) {
  return encoded<DESCRIBE_SIZE_BYTES>(describe_request_encode, request);
}

Bytes encode_message(const configure_request& request) {
  return encoded<CONFIGURE_SIZE_BYTES>(configure_request_encode, request);
}

Bytes encode_message(const clear_request& request) {
  return encoded<CLEAR_SIZE_BYTES>(clear_request_encode, request);
}

Bytes encode_message(const command_request& request, int motor_count) {
  Bytes message(COMMAND_SIZE_BYTES_MAX);
  message.resize(
      command_request_encode(&request, static_cast<std::uint8_t>(motor_count), message.data()));
  return message;
}

Bytes encode_compact_message(const command_request& request) {
  return encoded<COMMAND_COMPACT_SIZE_BYTES>(command_compact_encode, request);
}

Bytes append_crc(Bytes message, std::uint32_t seed) {
  const std::size_t size_bytes = message.size();
  const std::uint32_t crc = crc32c(seed, message.data(), size_bytes);
  message.resize(size_bytes + 4);
  put_u32(message.data() + size_bytes, crc);
  return message;
}

Bytes encode_cobs_frame(const Bytes& plain) {
  Bytes frame(plain.size() + FRAME_OVERHEAD_BYTES);
  const std::size_t size_bytes =
      cobs_encode(plain.data(), plain.size(), frame.data(), frame.size());
  assert(size_bytes == plain.size() + 1);
  frame[size_bytes] = 0;
  return frame;
}

Bytes make_frame(const Bytes& message) {
  Bytes frame(FRAME_SIZE_BYTES_MAX);
  const std::size_t size_bytes =
      frame_encode(message.data(), message.size(), frame.data(), frame.size());
  assert(size_bytes > 0);
  frame.resize(size_bytes);
  return frame;
}

TestHost::TestHost(Transport& transport, const TestSettings& settings,
                   const std::atomic<bool>& stop)
    : transport_(&transport), settings_(settings), stop_(&stop) {}

// --- Connecting ---

void TestHost::connect() {
  const Nanoseconds listen_end = now() + kListenTime;
  while (const auto message = next(listen_end)) ++heard_before_hello_[message->front()];
  try {
    // Never carried out: even a unit with a session refuses a divider of 0.
    first_answer_ = send_configure_request(configure_request{});
    is_fresh_ = first_answer_->result == CONFIGURE_NO_SESSION;
  } catch (const CheckFailed&) {
    first_answer_.reset();  // reported by H7
  }
  first_facts_ = hello();
  is_connected_ = true;
  try {
    for (int k = 0; k < std::min<int>(facts_.encoder_count, ENCODERS_MAX); ++k) {
      const auto index = static_cast<std::uint8_t>(k);
      encoders_[index] = request_description(PART_ENCODER, index).description;
    }
    for (int k = 0; k < motor_count(); ++k) {
      const auto index = static_cast<std::uint8_t>(k);
      motors_[index] = request_description(PART_MOTOR, index).description;
    }
    is_described_ = true;
  } catch (const CheckFailed&) {
    is_described_ = false;  // reported by H6
  }
}

int TestHost::motor_count() const { return std::min<int>(facts_.motor_count, MOTORS_MAX); }

// --- Time ---

double TestHost::tick_period_us() const { return 1e6 / std::max<int>(facts_.tick_rate_Hz, 1); }

Nanoseconds TestHost::ticks(double count) const {
  return Nanoseconds(std::llround(count * tick_period_us() * 1e3));
}

int TestHost::time_to_live_ms(int wanted_ms) const {
  return std::clamp<int>(wanted_ms, 1, std::max<int>(facts_.ttl_max_ms, 1));
}

int TestHost::smallest_sample_divider(std::uint8_t flags, int inertial_count) const {
  const std::optional<int> baud_rate = transport_->report().baud_rate;
  int divider = 1;
  const auto fits = [&] {
    const LinkTraffic traffic{.encoder_count = facts_.encoder_count,
                              .sample_rate_Hz = static_cast<double>(facts_.tick_rate_Hz) / divider,
                              .compact = (flags & STREAM_COMPACT) != 0,
                              .inertial_count = inertial_count,
                              .motor_count = facts_.motor_count,
                              .marks = (flags & STREAM_MARKS) != 0};
    return compute_baud_budget(*baud_rate, traffic).fits;
  };
  while (baud_rate && divider < 255 && !fits()) ++divider;
  return divider;
}

// --- Bytes and messages ---

void TestHost::write(const Bytes& bytes) {
  const IoResult result = transport_->write(bytes);
  if (result.status == IoStatus::kClosed) throw PortClosed{};
  if (result.size_bytes == bytes.size()) return;
  throw CheckFailed{"the port accepted only " + std::to_string(result.size_bytes) + " of " +
                    std::to_string(bytes.size()) + " bytes"};
}

void TestHost::send(const Bytes& message) {
  Bytes bytes = make_frame(message);
  bytes.insert(bytes.begin(), 0);
  write(bytes);
}

// Fills the buffer. Reads in slices; a late wake-up after one shows that this host is late.
bool TestHost::read(Nanoseconds deadline) {
  const Nanoseconds until = std::min(deadline, now() + kReadSlice);
  const IoResult result = transport_->read_some(received_, until);
  if (result.status == IoStatus::kClosed) throw PortClosed{};
  received_begin_ = 0;
  received_end_ = result.size_bytes;
  if (result.size_bytes == 0) lateness_ = std::max(lateness_, now() - until);
  return result.size_bytes > 0;
}

std::optional<Bytes> TestHost::next(Nanoseconds deadline) {
  for (;;) {
    if (stop_->load() && !is_finishing_) throw TestInterrupted{};
    while (received_begin_ < received_end_) {
      if (!decoder_.push(received_[received_begin_++])) continue;
      const Bytes message(decoder_.message().begin(), decoder_.message().end());
      take(message, now());
      return message;
    }
    if (!read(deadline) && now() >= deadline) return std::nullopt;
  }
}

void TestHost::wait(Nanoseconds duration) {
  const Nanoseconds until = now() + duration;
  while (next(until)) {
  }
}

Bytes TestHost::send_request(const std::string& name, const Bytes& message, std::uint8_t reply_type,
                             const std::function<bool(const Bytes&)>& matches) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    send(message);
    const Nanoseconds sent = now();
    while (const auto reply = next(sent + kReplyTimeout)) {
      if (reply->front() != reply_type || (matches && !matches(*reply))) continue;
      reply_time_ = now() - sent;
      return *reply;
    }
  }
  throw CheckFailed{name + " was sent " + std::to_string(kAttempts) + " times and not answered"};
}

int TestHost::received_message_count(std::uint8_t type) const {
  const auto found = counts_.find(type);
  return found == counts_.end() ? 0 : found->second;
}

void TestHost::take(const Bytes& message, Nanoseconds at) {
  const std::uint8_t type = message.front();
  ++counts_[type];
  ReceivedFault fault;
  ReceivedInertialReadings inertial;
  switch (type) {
    case MESSAGE_SAMPLE:
    case MESSAGE_SAMPLE_COMPACT:
      if (is_streaming_) process_sample(message, at);
      break;
    case MESSAGE_FAULT:
      fault_report_decode(message.data(), message.size(), &fault.report);
      fault.samples_before = last_ ? last_->number + 1 : 0;
      fault.time_us = last_ ? last_->time_us : 0;
      faults_.push_back(fault);
      break;
    case MESSAGE_INERTIAL:
      inertial_report_decode(message.data(), message.size(), &inertial.report);
      inertial.sample_number = last_ ? last_->number : -1;
      inertial_.push_back(inertial);
      break;
    case MESSAGE_HELLO_REPLY:
      is_streaming_ = false;
      if (!is_connected_) damaged_before_ = decoder_.counters().damaged_count();
      break;
    case MESSAGE_CONFIGURE_REPLY:
      process_configure_reply(message);
      break;
    case MESSAGE_CLEAR_REPLY:
    case MESSAGE_DESCRIBE_REPLY:
      break;
    default:
      if (is_connected_) {
        record_violation("F9", fmt::format("a message of type {:#x}, which only hosts send", type));
      }
  }
  const std::uint64_t damaged = decoder_.counters().damaged_count() - damaged_before_;
  if (is_connected_ && damaged > 0) {
    record_violation("F9", std::to_string(damaged) + (damaged == 1 ? " frame is" : " frames are") +
                               " damaged, by the unit or on the line");
  }
}

// --- Requests ---

hello_reply TestHost::hello() {
  const std::uint16_t nonce = ++nonce_;
  const Bytes reply = send_request(
      "HELLO", encode_message(hello_head{PROTOCOL_VERSION, LAYOUT_HASH, nonce}),
      MESSAGE_HELLO_REPLY, [nonce](const Bytes& message) {
        hello_head head{};
        return hello_head_decode(message.data(), message.size(), &head) && head.nonce == nonce;
      });
  hello_head head{};
  hello_head_decode(reply.data(), reply.size(), &head);
  if (head.protocol_version != PROTOCOL_VERSION || head.layout_hash != LAYOUT_HASH) {
    throw CheckFailed{
        fmt::format("the unit has protocol version {} and layout {:#x}; "
                    "this is a test of version {}, layout {:#x}",
                    head.protocol_version, head.layout_hash, int{PROTOCOL_VERSION}, LAYOUT_HASH)};
  }
  hello_reply facts{};
  if (!hello_reply_decode(reply.data(), reply.size(), &facts)) {
    throw CheckFailed{
        fmt::format("HELLO_REPLY has {} bytes, not {}", reply.size(), int{HELLO_REPLY_SIZE_BYTES})};
  }
  const hello_reply before = std::exchange(facts_, facts);
  if (is_connected_ && facts.boot_count != before.boot_count) {
    throw CheckFailed{fmt::format("the unit was reset: boot_count {}, before {}", facts.boot_count,
                                  before.boot_count)};
  }
  return facts;
}

describe_reply TestHost::request_description(std::uint8_t part, std::uint8_t index) {
  describe_reply reply{};
  send_request("DESCRIBE", encode_message(describe_request{part, index}), MESSAGE_DESCRIBE_REPLY,
               [&](const Bytes& message) {
                 return describe_reply_decode(message.data(), message.size(), &reply) &&
                        reply.part == part && reply.index == index;
               });
  return reply;
}

configure_request TestHost::make_configure_request(const RequestedStream& stream) {
  int inertial_count = 0;
  for (const std::uint8_t divider : stream.inertial_divider) inertial_count += divider > 0 ? 1 : 0;
  const int divider =
      stream.divider > 0 ? stream.divider : smallest_sample_divider(stream.flags, inertial_count);
  configure_request request{};
  request.sequence = ++configure_sequence_;
  request.flags = stream.flags;
  request.divider = static_cast<std::uint8_t>(divider);
  request.command_age_ticks = static_cast<std::uint8_t>(stream.command_age_ticks);
  std::ranges::copy(stream.inertial_divider, std::begin(request.inertial_divider));
  return request;
}

configure_reply TestHost::send_configure(const RequestedStream& stream) {
  return send_configure_request(make_configure_request(stream));
}

configure_reply TestHost::send_configure_request(const configure_request& request) {
  configure_reply reply{};
  pending_configure_ = request;
  this->send_request("CONFIGURE", encode_message(request), MESSAGE_CONFIGURE_REPLY,
                     [&](const Bytes& message) {
                       return configure_reply_decode(message.data(), message.size(), &reply) &&
                              reply.sequence == request.sequence;
                     });
  return reply;
}

// The samples after the reply belong to the new stream.
void TestHost::process_configure_reply(const Bytes& message) {
  configure_reply reply{};
  configure_reply_decode(message.data(), message.size(), &reply);
  if (!pending_configure_ || reply.sequence != pending_configure_->sequence) return;
  const configure_request request = *std::exchange(pending_configure_, std::nullopt);
  if (reply.result != CONFIGURE_DONE) return;
  is_streaming_ = (request.flags & STREAM_ON) != 0;
  stream_flags_ = request.flags;
  divider_ = std::max<int>(request.divider, 1);
  if (!is_streaming_) return;
  last_.reset();
  least_delay_.reset();
}

clear_reply TestHost::clear(std::uint8_t step, std::uint16_t token) {
  clear_reply reply{};
  send_request("CLEAR", encode_message(clear_request{step, token}), MESSAGE_CLEAR_REPLY,
               [&](const Bytes& message) {
                 return clear_reply_decode(message.data(), message.size(), &reply) &&
                        reply.step == step;
               });
  return reply;
}

// --- Start of every check ---

void TestHost::begin() {
  lateness_ = Nanoseconds(0);
  hello();
  counts_.clear();
  faults_.clear();
  inertial_.clear();
  samples_before_ = samples_received_;
}

configure_reply TestHost::begin_stream(const RequestedStream& stream) {
  begin();
  const configure_reply reply = send_configure(stream);
  if (reply.result == CONFIGURE_DONE) return reply;
  throw CheckFailed{"CONFIGURE of the stream is answered with result " +
                    std::to_string(reply.result)};
}

void TestHost::clear_trip() {
  const clear_reply first = clear(1, 0);
  const clear_reply second = clear(2, first.token);
  if (second.result == CLEAR_DONE) return;
  throw CheckFailed{"the trip cannot be cleared: result " + std::to_string(second.result) + ", " +
                    fault_names(second.fault_flags)};
}

void TestHost::begin_with_cleared_trip(const RequestedStream& stream) {
  begin_stream(stream);
  clear_trip();
}

// --- Commands ---

std::int16_t TestHost::command_q15(int motor) const {
  const int count = std::max(motor_count(), 1);
  return static_cast<std::int16_t>(std::lround(32767.0 * settings_.command * (motor + 1) / count));
}

command_request TestHost::make_command(std::uint8_t flags, std::int64_t answers, int ttl_ms) {
  command_request request{};
  request.sequence = ++command_sequence_;
  request.answers = static_cast<std::uint32_t>(answers & 0xFFFFFFFF);
  request.flags = flags;
  request.ttl_ms = static_cast<std::uint8_t>(ttl_ms);
  for (int k = 0; k < motor_count(); ++k) request.command_q15[k] = command_q15(k);
  return request;
}

std::uint16_t TestHost::send_command(std::uint8_t flags, std::int64_t answers, int ttl_ms) {
  const command_request request = make_command(flags, answers, ttl_ms);
  const bool is_compact = is_streaming_ && (stream_flags_ & STREAM_COMPACT) != 0;
  send(is_compact ? encode_compact_message(request) : encode_message(request, motor_count()));
  return request.sequence;
}

void TestHost::skip_command_numbers(int count) {
  command_sequence_ = static_cast<std::uint16_t>(command_sequence_ + count);
}

ReceivedSample TestHost::drive(int ttl_ms) {
  ReceivedSample sample = last_ ? *last_ : next_sample();
  for (int k = 0; k < kCommandsToDrive; ++k) {
    send_command(COMMAND_ENABLE, sample.number, ttl_ms);
    sample = next_sample();
    if (sample.is_tripped()) {
      throw CheckFailed{"instead of driving the unit tripped: " +
                        fault_names(sample.report.fault_flags)};
    }
    if (sample.is_driving()) return sample;
  }
  throw CheckFailed{std::to_string(kCommandsToDrive) +
                    " COMMANDs with COMMAND_ENABLE that answer the newest sample do not enable the "
                    "output"};
}

void TestHost::idle() {
  send_command(0, last_ ? last_->number : 0);
  read_sample_until(is_not_driving, "a COMMAND without COMMAND_ENABLE ends STATUS_DRIVING");
}

void TestHost::trip() {
  send_command(COMMAND_TRIP, 0);
  read_sample_until(&ReceivedSample::is_tripped, "COMMAND_TRIP trips the unit");
}

// --- Whole session ---

void TestHost::record_violation(const std::string& id, const std::string& detail) {
  violations_.emplace(id, detail);
}

bool TestHost::finish() {
  if (!is_connected_) return true;
  is_finishing_ = true;
  try {
    for (int k = 0; k < 2; ++k) {
      send(encode_message(make_command(COMMAND_TRIP, 0, 0), motor_count()));
      wait(20ms);
    }
    return hello().fault_flags != 0;
  } catch (const CheckFailed&) {
  } catch (const PortClosed&) {
  }
  return false;
}

}  // namespace firmware_iface::conformance
