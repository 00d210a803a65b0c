#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "firmware_iface/link/frame_decoder.hpp"
#include "firmware_iface/wire/coding/cobs.h"
#include "firmware_iface/wire/coding/crc.h"
#include "firmware_iface/wire/command.h"
#include "firmware_iface/wire/frame.h"
#include "firmware_iface/wire/message_type.h"
#include "firmware_iface/wire/sample.h"
#include "tests/support/wire_messages.hpp"

namespace {

using firmware_iface::FrameDecoder;
using test_support::frame_of;
using Bytes = test_support::WireBytes;

Bytes random_bytes(std::mt19937_64& random, std::size_t size_bytes) {
  Bytes bytes(size_bytes);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() & 0xFFU);
  return bytes;
}

// A SAMPLE whose every field depends on k, so that a mix-up cannot go unnoticed.
Bytes sample_message(std::uint32_t k, bool compact = false) {
  sample_report report{};
  report.sequence = static_cast<std::uint16_t>(k);
  report.tick_us = 1000 * k;
  report.command_q15[0] = static_cast<std::int16_t>(k * 7);
  report.command_sequence = static_cast<std::uint16_t>(k - 1);
  report.encoders_valid = 3;
  report.encoder_counts[0] = static_cast<std::int32_t>(k);
  report.encoder_counts[1] = -static_cast<std::int32_t>(k);
  const sample_shape shape{2, 1, false};
  return compact ? test_support::compact_message_of(report, shape)
                 : test_support::message_of(report, shape);
}

// All lengths up to the limit, with many zeros, since stuffing replaces zeros.
TEST(Cobs, RoundTripsAndLeavesNoZero) {
  std::mt19937_64 random(11);
  for (std::size_t size_bytes = 0; size_bytes <= 254; ++size_bytes) {
    SCOPED_TRACE(size_bytes);
    Bytes data = random_bytes(random, size_bytes);
    for (std::uint8_t& byte : data) byte = (byte & 3U) == 0 ? 0 : byte;
    Bytes stuffed(256, 0xAA);
    ASSERT_EQ(cobs_encode(data.data(), data.size(), stuffed.data(), stuffed.size()),
              size_bytes + 1);
    EXPECT_EQ(stuffed[size_bytes + 1], 0xAA) << "wrote past its end";
    stuffed.resize(size_bytes + 1);
    EXPECT_EQ(std::count(stuffed.begin(), stuffed.end(), 0), 0);
    Bytes plain(254);
    std::size_t plain_size_bytes = 999;
    ASSERT_TRUE(
        cobs_decode(stuffed.data(), stuffed.size(), plain.data(), plain.size(), &plain_size_bytes));
    plain.resize(plain_size_bytes);
    EXPECT_EQ(plain, data);
  }
  Bytes too_long(255, 1);
  Bytes out(300);
  EXPECT_EQ(cobs_encode(too_long.data(), too_long.size(), out.data(), out.size()), 0U);
  EXPECT_EQ(cobs_encode(too_long.data(), 10, out.data(), 10), 0U) << "no room";
}

// Buffers of exactly the given size: under the address sanitizer one byte too far is an error.
TEST(Frame, DecoderNeverReadsOrWritesPastTheEnd) {
  std::mt19937_64 random(12);
  for (int k = 0; k < 200'000; ++k) {
    const Bytes stuffed = random_bytes(random, random() % 70);
    Bytes message(MESSAGE_SIZE_BYTES_MAX);
    std::size_t size_bytes = 0;
    const std::vector<std::uint8_t> exact(stuffed.begin(), stuffed.end());
    frame_decode(exact.data(), exact.size(), message.data(), &size_bytes);
    ASSERT_LE(size_bytes, message.size());
  }
}

// Every 1 and 2 bit error and every truncation of a frame must be refused: CRC-32C guarantees 6
// bits at this length, CRC-16 with 0x5935 4. The delimiter is not altered: damage to it merges
// frames, which FrameDecoder's tests cover.
TEST(Frame, AnyTwoWrongBitsAndAnyTruncationAreRefused) {
  for (const bool compact : {false, true}) {
    const Bytes frame = frame_of(sample_message(12345, compact));
    const std::size_t stuffed_size = frame.size() - 1;
    Bytes message(MESSAGE_SIZE_BYTES_MAX);
    std::size_t size = 0;
    for (std::size_t a = 0; a < stuffed_size * 8; ++a) {
      for (std::size_t b = a; b < stuffed_size * 8; ++b) {
        Bytes damaged(frame.begin(), frame.end() - 1);
        damaged[a / 8] ^= static_cast<std::uint8_t>(1U << (a % 8));
        if (b != a) damaged[b / 8] ^= static_cast<std::uint8_t>(1U << (b % 8));
        ASSERT_NE(frame_decode(damaged.data(), damaged.size(), message.data(), &size), FRAME_OK)
            << "bits " << a << " and " << b;
      }
    }
    for (std::size_t cut = 0; cut < stuffed_size; ++cut) {
      EXPECT_NE(frame_decode(frame.data(), cut, message.data(), &size), FRAME_OK) << cut;
    }
  }
}

TEST(Frame, EncoderRefusesWhatIsNotAMessage) {
  std::array<std::uint8_t, FRAME_SIZE_BYTES_MAX> out{};
  const Bytes wrong_size = {MESSAGE_COMMAND, 1, 2};
  EXPECT_EQ(frame_encode(wrong_size.data(), wrong_size.size(), out.data(), out.size()), 0U);
  const Bytes unknown = {0x7E, 1, 2};
  EXPECT_EQ(frame_encode(unknown.data(), unknown.size(), out.data(), out.size()), 0U);
  EXPECT_EQ(frame_encode(nullptr, 0, out.data(), out.size()), 0U);
  const Bytes good = sample_message(1);
  EXPECT_EQ(frame_encode(good.data(), good.size(), out.data(), 29), 0U) << "needs 30 bytes";
  EXPECT_EQ(frame_encode(good.data(), good.size(), out.data(), 30), 30U);
}

// A right checksum does not make a message valid if its length does not fit its type. A program
// with another layout, or a faulty one, can compute it.
TEST(Frame, RefusesAWrongLengthWithARightChecksum) {
  for (const std::size_t size_bytes : {1U, 8U, 9U, 10U, 11U, 25U, 27U}) {
    Bytes plain(size_bytes, 1);
    plain[0] = MESSAGE_COMMAND;
    const std::uint32_t crc = crc32c(LAYOUT_HASH, plain.data(), plain.size());
    for (int k = 0; k < 4; ++k) plain.push_back(static_cast<std::uint8_t>(crc >> (8 * k)));
    Bytes stuffed(64);
    stuffed.resize(cobs_encode(plain.data(), plain.size(), stuffed.data(), stuffed.size()));
    Bytes message(MESSAGE_SIZE_BYTES_MAX);
    std::size_t size = 0;
    EXPECT_EQ(
        frame_decode(stuffed.data(), stuffed.size(), message.data(), &size),
        size_bytes >= 9 && size_bytes <= 25 && size_bytes % 2 == 1 ? FRAME_OK : FRAME_BAD_LENGTH)
        << size_bytes;
  }
}

// -32768 has no positive counterpart. Read unchanged, it would make the range asymmetric.
TEST(Command, MostNegativeCommandReadsAsTheRangeLimit) {
  const command_request request{1, 0, COMMAND_ENABLE, 20, {-32768, -32768}};
  const Bytes full = test_support::message_of(request, 2);
  const Bytes compact = test_support::compact_message_of(request);
  command_request read{};
  ASSERT_TRUE(command_request_decode(full.data(), full.size(), 2, &read));
  EXPECT_EQ(read.command_q15[0], -32767);
  EXPECT_EQ(read.command_q15[1], -32767);
  ASSERT_TRUE(command_compact_decode(compact.data(), compact.size(), &read));
  EXPECT_EQ(read.command_q15[0], -32767);
}

// Feeds bytes and returns the decoded messages.
std::vector<Bytes> decode_all(FrameDecoder& decoder, const Bytes& bytes) {
  std::vector<Bytes> messages;
  for (const std::uint8_t byte : bytes) {
    if (!decoder.push(byte)) continue;
    messages.emplace_back(decoder.message().begin(), decoder.message().end());
  }
  return messages;
}

void append(Bytes& stream, const Bytes& more) {
  stream.insert(stream.end(), more.begin(), more.end());
}

// Whatever garbage comes first, the frame after the next delimiter is read. Garbage may end in what
// looks like a frame, may be longer than any frame, and may contain delimiters.
TEST(FrameDecoder, FindsTheFrameAfterAnyGarbage) {
  std::mt19937_64 random(13);
  const Bytes message = sample_message(77);
  for (int k = 0; k < 20'000; ++k) {
    SCOPED_TRACE(k);
    FrameDecoder decoder;
    Bytes stream = random_bytes(random, random() % 200);
    stream.push_back(0);
    append(stream, frame_of(message));
    const std::vector<Bytes> found = decode_all(decoder, stream);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.back(), message);
    EXPECT_EQ(found.size(), 1U) << "garbage was taken for a message";
  }
}

// A stream of randomly damaged frames: every accepted frame was sent, in order, and every delimited
// run of bytes is a good frame or counted under one kind of damage.
TEST(FrameDecoder, AcceptsOnlyWhatWasSentAndCountsTheRest) {
  std::mt19937_64 random(14);
  FrameDecoder decoder;
  Bytes stream;
  std::vector<Bytes> sent;
  for (std::uint32_t k = 0; k < 20'000; ++k) {
    sent.push_back(sample_message(k));
    Bytes frame = frame_of(sent.back());
    switch (random() % 8) {
      case 0:
        frame[random() % frame.size()] ^= static_cast<std::uint8_t>(1U << (random() % 8));
        break;
      case 1:
        frame.erase(frame.begin() + static_cast<std::ptrdiff_t>(random() % frame.size()));
        break;
      case 2:
        append(stream, random_bytes(random, random() % 100));
        break;
      default:
        break;
    }
    append(stream, frame);
  }
  std::uint64_t runs = 0;  // between delimiters, not empty
  bool inside = false;
  for (const std::uint8_t byte : stream) {
    if (byte == 0 && inside) ++runs;
    inside = byte != 0;
  }
  const std::vector<Bytes> found = decode_all(decoder, stream);
  std::size_t next = 0;
  for (const Bytes& message : found) {
    while (next < sent.size() && sent[next] != message) ++next;
    ASSERT_LT(next, sent.size()) << "a message that was never sent, or out of order";
    ++next;
  }
  EXPECT_GT(found.size(), sent.size() / 2);
  EXPECT_EQ(decoder.counters().good, found.size());
  EXPECT_EQ(decoder.counters().good + decoder.counters().damaged_count(), runs);
}

TEST(FrameDecoder, NamesEachKindOfDamage) {
  const auto counters_after = [](const Bytes& bytes) {
    FrameDecoder decoder;
    decode_all(decoder, bytes);
    return decoder.counters();
  };
  EXPECT_EQ(counters_after({0x05, 0x01, 0x00}).bad_stuffing, 1U);
  EXPECT_EQ(counters_after({0x02, 0x7E, 0x00}).unknown_type, 1U);
  EXPECT_EQ(counters_after({0x02, MESSAGE_SAMPLE, 0x00}).bad_length, 1U);
  EXPECT_EQ(counters_after(Bytes(500, 0x11)).damaged_count(), 0U) << "not yet ended";
  Bytes long_run(500, 0x11);
  long_run.push_back(0);
  EXPECT_EQ(counters_after(long_run).too_long, 1U);
  Bytes wrong_crc = frame_of(sample_message(5));
  wrong_crc[wrong_crc.size() - 2] ^= 0x40;
  EXPECT_EQ(counters_after(wrong_crc).bad_crc, 1U);
  EXPECT_EQ(counters_after({0, 0, 0, 0}).damaged_count(), 0U) << "idle delimiters are no damage";
}

}  // namespace
