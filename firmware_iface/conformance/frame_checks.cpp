// Checks of frames: which ones the unit must drop, and which ones it must read after line errors.

#include <random>

#include "firmware_iface/conformance/check.hpp"
#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/inertial.h"
#include "firmware_iface/wire/limits.h"
#include "firmware_iface/wire/message_type.h"
#include "firmware_iface/wire/sample.h"

namespace firmware_iface::conformance {
namespace {

using namespace std::chrono_literals;

constexpr Nanoseconds kFramePatience = 500ms;
constexpr Nanoseconds kSplitPause = 4ms;  // longer than a tick of most units
constexpr int kUsualBaudRate = 921'600;   // for garbage, if the line has no rate

Bytes good_frame() { return make_frame(encode_message(describe_request{PART_ENCODER, 0})); }

// CLEAR step 1: a reply shows that it was accepted, and it has no effect.
Bytes clear_message() { return encode_message(clear_request{1, 0}); }

/// Returns a message of zeros after its type byte.
Bytes blank_message(std::uint8_t type, std::size_t size_bytes) {
  Bytes bytes(size_bytes, 0);
  bytes[0] = type;
  return bytes;
}

/// Numbers of replies received since begin().
struct Replies {
  int to_good_frames = 0;
  int others = 0;
};

Replies replies(const TestHost& host) {
  return {host.received_message_count(MESSAGE_DESCRIBE_REPLY),
          host.received_message_count(MESSAGE_HELLO_REPLY) +
              host.received_message_count(MESSAGE_CONFIGURE_REPLY) +
              host.received_message_count(MESSAGE_CLEAR_REPLY)};
}

/// Waits for exactly the replies to `count` good frames.
void expect_answers(TestHost& host, int count, const Replies& before, const std::string& after) {
  const Nanoseconds deadline = host.now() + kFramePatience;
  while (replies(host).to_good_frames < before.to_good_frames + count) {
    if (!host.next(deadline)) throw CheckFailed{"after " + after + " a good frame is not answered"};
  }
  expect(replies(host).to_good_frames == before.to_good_frames + count &&
             replies(host).others == before.others,
         "{} is accepted and answered", after);
}

/// Sends each frame and a good frame right after it. The unit must answer the good frames and count
/// the others in error_count.
Measurement expect_dropped(TestHost& host, const std::vector<Bytes>& frames,
                           const std::string& what) {
  host.begin_stream();
  const std::uint8_t errors_before = host.next_sample().report.error_count;
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const Replies before = replies(host);
    host.write(frames[k]);
    host.write(good_frame());
    expect_answers(host, 1, before, what + " (number " + std::to_string(k + 1) + ")");
  }
  const int errors =
      static_cast<std::uint8_t>(host.next_sample().report.error_count - errors_before);
  const auto sent = static_cast<int>(frames.size());
  expect(errors == sent % 256, "error_count grows by {} for {} such frames", errors, sent);
  return format_count(sent, "frame", "dropped and counted");
}

Measurement drops_wrong_crc(TestHost& host) {
  const Bytes plain = append_crc(clear_message());
  std::vector<Bytes> frames;
  for (std::size_t bit = 0; bit < 8 * plain.size(); ++bit) {
    Bytes damaged = plain;
    damaged[bit / 8] = static_cast<std::uint8_t>(damaged[bit / 8] ^ (1U << (bit % 8)));
    frames.push_back(encode_cobs_frame(damaged));
  }
  return expect_dropped(host, frames, "a frame with a wrong bit");
}

Measurement drops_wrong_length(TestHost& host) {
  const std::pair<std::uint8_t, std::vector<std::size_t>> sizes_bytes[] = {
      {MESSAGE_CLEAR, {1, 3, 5, 40}},
      {MESSAGE_DESCRIBE, {2, 4}},
      {MESSAGE_CONFIGURE, {9, 11}},
      {MESSAGE_COMMAND, {8, 10, 26}},
      {MESSAGE_HELLO, {7, 58}}};
  std::vector<Bytes> frames;
  for (const auto& [type, sizes] : sizes_bytes) {
    for (const std::size_t size_bytes : sizes) {
      frames.push_back(encode_cobs_frame(append_crc(
          blank_message(type, size_bytes), type == MESSAGE_HELLO ? HELLO_CRC_SEED : LAYOUT_HASH)));
    }
  }
  for (const std::size_t size_bytes : {1U, 4U}) {  // too short for a CRC
    frames.push_back(encode_cobs_frame(blank_message(MESSAGE_CLEAR, size_bytes)));
  }
  return expect_dropped(host, frames, "a frame of the wrong length");
}

Measurement drops_wrong_stuffing(TestHost& host) {
  const Bytes good = make_frame(clear_message());
  std::vector<Bytes> frames;
  for (const unsigned code : {9U, 100U, 255U}) {  // lengths that exceed the frame
    Bytes frame = good;
    frame[0] = static_cast<std::uint8_t>(frame[0] + code > 255 ? 255 : frame[0] + code);
    frames.push_back(frame);
  }
  for (std::size_t size_bytes = 1; size_bytes + 1 < good.size(); ++size_bytes) {
    Bytes frame(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size_bytes));
    frame.push_back(0);
    frames.push_back(frame);
  }
  return expect_dropped(host, frames, "a frame with wrong stuffing or cut short");
}

Measurement drops_unknown_type(TestHost& host) {
  std::vector<Bytes> frames;
  for (const int type : {0x00, 0x0A, 0x13, 0x22, 0x7F, 0xFF}) {
    frames.push_back(encode_cobs_frame(append_crc({static_cast<std::uint8_t>(type), 1, 0, 0})));
  }
  return expect_dropped(host, frames, "a frame of an unknown type");
}

Measurement drops_long_runs(TestHost& host) {
  std::vector<Bytes> frames;
  for (const std::size_t size_bytes : {105U, 300U, 700U}) {
    Bytes run(size_bytes, 0x55);
    run.push_back(0);
    frames.push_back(run);
  }
  return expect_dropped(host, frames, "a run of bytes without a zero");
}

Measurement drops_other_layouts(TestHost& host) {
  return expect_dropped(host,
                        {encode_cobs_frame(append_crc(clear_message(), LAYOUT_HASH ^ 1U)),
                         encode_cobs_frame(append_crc(clear_message(), ~LAYOUT_HASH)),
                         encode_cobs_frame(append_crc(clear_message(), HELLO_CRC_SEED))},
                        "a frame of another layout");
}

Measurement ignores_zeros(TestHost& host) {
  constexpr int kZeros = 300;
  host.begin_stream();
  const int errors_before = host.next_sample().report.error_count;
  const Replies before = replies(host);
  host.write(Bytes(kZeros, 0));
  host.write(good_frame());
  expect_answers(host, 1, before, "zero bytes");
  expect(host.next_sample().report.error_count == errors_before,
         "zero bytes are counted in error_count");
  return format_count(kZeros, "zero byte");
}

Measurement reads_split_frames(TestHost& host) {
  host.begin_stream();
  const int errors_before = host.next_sample().report.error_count;
  const Bytes frame = good_frame();
  for (std::size_t split = 1; split < frame.size(); ++split) {
    const auto middle = frame.begin() + static_cast<std::ptrdiff_t>(split);
    const Replies before = replies(host);
    host.write(Bytes(frame.begin(), middle));
    host.wait(kSplitPause);
    host.write(Bytes(middle, frame.end()));
    expect_answers(host, 1, before, "a pause after byte " + std::to_string(split) + " of it");
  }
  Replies before = replies(host);
  for (const std::uint8_t byte : frame) {
    host.write({byte});
    host.wait(1ms);
  }
  expect_answers(host, 1, before, "a pause after each byte of it");
  constexpr int kJoined = 4;
  Bytes joined;
  for (int k = 0; k < kJoined; ++k) joined.insert(joined.end(), frame.begin(), frame.end());
  before = replies(host);
  host.write(joined);
  expect_answers(host, kJoined, before, "a good frame right before it");
  expect(host.next_sample().report.error_count == errors_before,
         "split or joined frames are counted in error_count");
  return format_count(frame.size() - 1, "place", "of a split");
}

Measurement survives_garbage(TestHost& host) {
  constexpr auto kDuration = 100ms;
  host.begin_stream();
  const std::int64_t number_before = host.next_sample().number;
  const double bytes_per_ms = host.transport().report().baud_rate.value_or(kUsualBaudRate) /
                              (1e3 * int{BITS_PER_BYTE_ON_THE_LINE});
  std::mt19937 random(20260101);
  std::size_t sent = 0;
  const Nanoseconds start = host.now();
  for (auto slice = 1ms; slice <= kDuration; slice += 1ms) {
    Bytes garbage;
    while (static_cast<double>(sent) < bytes_per_ms * static_cast<double>(slice.count())) {
      garbage.push_back(static_cast<std::uint8_t>(random() & 0xFFU));
      ++sent;
    }
    host.write(garbage);
    host.wait(start + slice - host.now());
  }
  const Replies before = replies(host);
  host.write({0});
  host.write(good_frame());
  expect_answers(host, 1, before, "random bytes");
  expect(host.next_sample().number > number_before, "no samples come during random bytes");
  return format_count(static_cast<std::int64_t>(sent), "random byte");
}

Measurement ignores_units_messages(TestHost& host) {
  host.begin_stream();
  const sample_shape shape{host.facts().encoder_count,
                           static_cast<std::uint8_t>(host.motor_count()), false};
  const std::vector<Bytes> messages = {
      blank_message(MESSAGE_HELLO_REPLY, HELLO_REPLY_SIZE_BYTES),
      blank_message(MESSAGE_CONFIGURE_REPLY, CONFIGURE_REPLY_SIZE_BYTES),
      blank_message(MESSAGE_CLEAR_REPLY, CLEAR_REPLY_SIZE_BYTES),
      blank_message(MESSAGE_FAULT, FAULT_SIZE_BYTES),
      blank_message(MESSAGE_DESCRIBE_REPLY, DESCRIBE_REPLY_SIZE_BYTES),
      blank_message(MESSAGE_SAMPLE, sample_size_bytes(shape)),
      blank_message(MESSAGE_INERTIAL, INERTIAL_SIZE_BYTES_MIN)};
  const ReceivedSample first = host.next_sample();
  for (const Bytes& each : messages) {
    const Replies before = replies(host);
    host.write(make_frame(each));
    host.write(good_frame());
    expect_answers(host, 1, before, fmt::format("a message of type {:#x}", each[0]));
  }
  const ReceivedSample after = host.next_sample();
  expect(after.report.fault_flags == first.report.fault_flags, "fault_flags change to {}",
         fault_names(after.report.fault_flags));
  return format_count(messages.size(), "message", "ignored");
}

}  // namespace

std::vector<ConformanceCheck> frame_checks() {
  return {
      {"F4",
       "A frame whose CRC was computed with the seed of another message layout is dropped and "
       "counted.",
       drops_other_layouts},
      {"F5a", "A frame with a wrong CRC is dropped and counted in error_count.", drops_wrong_crc},
      {"F5b", "A frame of a length that its type cannot have is dropped and counted.",
       drops_wrong_length},
      {"F5c", "A frame that is not a COBS sequence, or is cut short, is dropped and counted.",
       drops_wrong_stuffing},
      {"F5d", "A frame of an unknown type is dropped and counted.", drops_unknown_type},
      {"F5e", "A run of more than 104 bytes without a zero is dropped and counted once.",
       drops_long_runs},
      {"F6a", "Zero bytes between frames are not errors.", ignores_zeros},
      {"F6b",
       "The unit reads a frame that arrives in parts of any size, or directly after another frame.",
       reads_split_frames},
      {"F6c", "After 100 ms of random bytes at the line's rate the next frame is read.",
       survives_garbage},
      {"F7a", "A message that only units send is ignored.", ignores_units_messages},
  };
}

}  // namespace firmware_iface::conformance
