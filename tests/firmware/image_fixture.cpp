#include "tests/firmware/image_fixture.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "firmware_iface/wire/message_type.h"
#include "tests/support/local_socket.hpp"

namespace test_support {
namespace {

// Long enough for a loaded machine. No duration is asserted.
constexpr std::chrono::seconds kPatience{20};

// Longest travel time of a message before the next tick is tried.
constexpr int kTravel_ms = 5;

constexpr int kTicksPerCommand = 20;
constexpr int kTicksPerHello = 100;
constexpr int kTicksPerMessage = 4000;

constexpr std::int32_t kMark = 0x5A5A5A5A;

}  // namespace

ImageTest::ImageTest() { boot(); }

ImageTest::~ImageTest() { hang_up(); }

void ImageTest::boot(const std::vector<std::string>& qemu_options) {
  hang_up();
  unit_.reset();
  unit_ = std::make_unique<QemuUnit>(QemuUnit::Settings{
      .log_path = folder_.file("qemu-" + std::to_string(boots_++)), .options = qemu_options});
  bytes_sent_ = 0;
  connect();
}

void ImageTest::connect() {
  line_ = connect_locally(unit_->port());
  ASSERT_GE(line_, 0);
  decoder_.reset();
}

void ImageTest::hang_up() {
  if (line_ >= 0) ::close(line_);
  line_ = -1;
  in_stream_ = streaming_ = false;
}

void ImageTest::send_bytes(std::span<const std::uint8_t> bytes) {
  ASSERT_EQ(::send(line_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
  bytes_sent_ += bytes.size();
}

void ImageTest::send(std::span<const std::uint8_t> message) {
  // The zero ends any fragment that the unit holds, as the protocol requires of a host.
  Bytes bytes = frame_of(message);
  ASSERT_FALSE(bytes.empty());
  bytes.insert(bytes.begin(), 0);
  send_bytes(bytes);
}

void ImageTest::receive(int timeout_ms) {
  if (line_ < 0 || !readable(line_, timeout_ms)) return;
  std::array<std::uint8_t, 4096> buffer{};
  const ssize_t size = ::recv(line_, buffer.data(), buffer.size(), 0);
  ASSERT_GT(size, 0) << "the line has ended: " << unit_->log();
  for (ssize_t k = 0; k < size; ++k) {
    if (decoder_.push(buffer[static_cast<std::size_t>(k)])) take(decoder_.message());
  }
}

void ImageTest::take(std::span<const std::uint8_t> message) {
  if (message[0] == MESSAGE_HELLO_REPLY) in_stream_ = streaming_ = false;
  if (message[0] != MESSAGE_SAMPLE) {
    messages_.emplace_back(message.begin(), message.end());
    return;
  }
  if (!in_stream_) return;  // of the previous host
  sample_report sample{};
  ASSERT_TRUE(sample_report_decode(message.data(), message.size(), shape_, &sample));
  ASSERT_EQ(sample.sequence, samples_.size() & 0xFFFFU) << "no sample is lost";
  sample_ = sample;
  samples_.push_back(sample);
}

void ImageTest::tick() {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  const auto output = unit_->tick(inputs_);
  ASSERT_TRUE(output.has_value()) << "the unit does not answer a tick";
  output_ = *output;
  const std::size_t before = samples_.size();
  while (streaming_ && samples_.size() == before) {  // it comes after the output
    ASSERT_LT(std::chrono::steady_clock::now(), end) << "no sample comes";
    receive(100);
    if (HasFatalFailure()) return;
  }
}

void ImageTest::ticks(int count) {
  for (int k = 0; k < count && !HasFatalFailure(); ++k) tick();
}

Bytes ImageTest::await(std::uint8_t type) {
  const Bytes message = await(type, kTicksPerMessage);
  EXPECT_FALSE(message.empty()) << "no message of type " << int{type};
  return message;
}

Bytes ImageTest::await(std::uint8_t type, int ticks_max) {
  for (int k = 0; k < ticks_max && !HasFatalFailure(); ++k) {
    const auto found = std::find_if(messages_.begin(), messages_.end(),
                                    [&](const Bytes& message) { return message[0] == type; });
    if (found != messages_.end()) {
      Bytes message = *found;
      messages_.erase(found);
      return message;
    }
    receive(kTravel_ms);
    tick();
  }
  return {};
}

hello_reply ImageTest::hello() {
  const hello_head head{PROTOCOL_VERSION, LAYOUT_HASH, ++sequence_};
  const auto end = std::chrono::steady_clock::now() + kPatience;
  hello_reply reply{};
  Bytes answer;
  while (!HasFatalFailure() && reply.nonce != head.nonce) {
    if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << "no answer to HELLO";
      break;
    }
    // Repeat only if nothing was answered: a second HELLO would end the next stream.
    if (answer.empty()) send(message_of(head));
    answer = await(MESSAGE_HELLO_REPLY, kTicksPerHello);
    if (!answer.empty()) hello_reply_decode(answer.data(), answer.size(), &reply);
  }
  facts_ = reply;
  return reply;
}

configure_reply ImageTest::configure(std::uint8_t flags, std::uint8_t divider,
                                     std::uint8_t command_age_ticks) {
  in_stream_ = (flags & STREAM_ON) != 0;
  streaming_ = false;
  samples_.clear();
  shape_ = {facts_.encoder_count, facts_.motor_count, (flags & STREAM_MARKS) != 0};
  send(message_of(configure_request{++sequence_, flags, divider, command_age_ticks, {}}));
  configure_reply reply{};
  const Bytes answer = await(MESSAGE_CONFIGURE_REPLY);
  EXPECT_TRUE(configure_reply_decode(answer.data(), answer.size(), &reply));
  return reply;
}

void ImageTest::start_stream(std::uint8_t flags, std::uint8_t divider) {
  const configure_reply reply = configure(flags, divider);
  ASSERT_EQ(reply.result, CONFIGURE_DONE);
  if (divider != 1) return;
  // The stream began some ticks ago. A count that is unique to this tick identifies its sample.
  const std::int32_t count = inputs_.encoder_counts[0];
  inputs_.encoder_counts[0] = kMark;
  tick();
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (samples_.empty() || sample_.encoder_counts[0] != kMark) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << "no sample comes";
    receive(100);
    if (HasFatalFailure()) return;
  }
  inputs_.encoder_counts[0] = count;
  EXPECT_EQ(samples_[0].tick_us, reply.start_tick_us);
  streaming_ = true;
}

clear_reply ImageTest::clear(std::uint8_t step, std::uint16_t token) {
  send(message_of(clear_request{step, token}));
  clear_reply reply{};
  const Bytes answer = await(MESSAGE_CLEAR_REPLY);
  EXPECT_TRUE(clear_reply_decode(answer.data(), answer.size(), &reply));
  EXPECT_EQ(reply.step, step);
  return reply;
}

void ImageTest::clear_trip() {
  const clear_reply first = clear(1, 0);
  const clear_reply second = clear(2, first.token);
  ASSERT_EQ(second.result, CLEAR_DONE);
  ASSERT_EQ(second.fault_flags, 0);
}

std::uint16_t ImageTest::send_command(std::int16_t command_q15, std::uint8_t flags,
                                      std::uint8_t ttl_ms, std::uint32_t older_by) {
  command_request request{};
  request.sequence = ++command_sequence_;
  request.answers = static_cast<std::uint32_t>(samples_.size()) - 1 - older_by;
  request.flags = flags;
  request.ttl_ms = ttl_ms;
  request.command_q15[0] = command_q15;
  send(message_of(request, 1));
  return request.sequence;
}

std::uint32_t ImageTest::drive(std::int16_t command_q15, std::uint8_t ttl_ms) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!HasFatalFailure() && std::chrono::steady_clock::now() < end) {
    const std::uint32_t answered_us = sample_.tick_us;
    const std::uint16_t sequence = send_command(command_q15, COMMAND_ENABLE, ttl_ms);
    for (int k = 0; k < kTicksPerCommand && !HasFatalFailure(); ++k) {
      receive(kTravel_ms);
      tick();
      if (sample_.command_sequence != sequence) continue;
      EXPECT_TRUE(output_.is_enabled);
      return answered_us;
    }
  }
  ADD_FAILURE() << "the unit does not drive";
  return 0;
}

std::uint32_t ImageTest::start_driving(std::int16_t command_q15, std::uint8_t ttl_ms) {
  hello();
  start_stream();
  clear_trip();
  return drive(command_q15, ttl_ms);
}

void ImageTest::wait_until_line_is_idle() {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (unit_->bytes_to_unit() < bytes_sent_) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace test_support
