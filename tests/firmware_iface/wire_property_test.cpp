#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "firmware_iface/wire/coding/cobs.h"
#include "firmware_iface/wire/coding/crc.h"
#include "firmware_iface/wire/message_type.h"
#include "tests/support/wire_messages.hpp"

// Properties of every message, in every shape, with random bytes. The golden vectors of
// PROTOCOL.md fix the offsets; these tests fix what one vector a message cannot.

namespace {

using test_support::compact_message_of;
using test_support::message_of;
using Bytes = test_support::WireBytes;

constexpr std::uint8_t kUntouched = 0xA5;

/// A message in one shape: its type and size, and what its decoder and encoder make of bytes.
struct Shape {
  std::string name;
  std::uint8_t type;
  std::size_t size_bytes;
  /// Decodes and encodes again. Empty if the decoder refuses; then its result must be unchanged.
  std::function<Bytes(const Bytes&)> recode;
  bool has_longer_versions = false;
};

template <typename Message, typename Decode, typename Encode>
Shape make_shape(const std::string& name, std::uint8_t type, std::size_t size_bytes,
               const Decode& decode, const Encode& encode) {
  return {name, type, size_bytes, [=](const Bytes& bytes) {
            Message message;
            std::memset(&message, kUntouched, sizeof(message));
            if (decode(bytes.data(), bytes.size(), &message)) return Bytes(encode(message));
            Bytes raw(sizeof(message));
            std::memcpy(raw.data(), &message, sizeof(message));
            EXPECT_EQ(raw, Bytes(sizeof(message), kUntouched)) << "refused, but changed";
            return Bytes{};
          }};
}

template <typename Message>
Shape make_shape(const std::string& name, std::uint8_t type, std::size_t size_bytes,
               bool (*decode)(const std::uint8_t*, std::size_t, Message*)) {
  return make_shape<Message>(name, type, size_bytes, decode,
                           [](const Message& message) { return message_of(message); });
}

std::vector<Shape> shapes() {
  std::vector<Shape> all = {
      make_shape("HELLO", MESSAGE_HELLO, HELLO_SIZE_BYTES, hello_head_decode),
      make_shape("HELLO_REPLY", MESSAGE_HELLO_REPLY, HELLO_REPLY_SIZE_BYTES, hello_reply_decode),
      make_shape("DESCRIBE", MESSAGE_DESCRIBE, DESCRIBE_SIZE_BYTES, describe_request_decode),
      make_shape("DESCRIBE_REPLY", MESSAGE_DESCRIBE_REPLY, DESCRIBE_REPLY_SIZE_BYTES,
               describe_reply_decode),
      make_shape("CONFIGURE", MESSAGE_CONFIGURE, CONFIGURE_SIZE_BYTES, configure_request_decode),
      make_shape("CONFIGURE_REPLY", MESSAGE_CONFIGURE_REPLY, CONFIGURE_REPLY_SIZE_BYTES,
               configure_reply_decode),
      make_shape("CLEAR", MESSAGE_CLEAR, CLEAR_SIZE_BYTES, clear_request_decode),
      make_shape("CLEAR_REPLY", MESSAGE_CLEAR_REPLY, CLEAR_REPLY_SIZE_BYTES, clear_reply_decode),
      make_shape("FAULT", MESSAGE_FAULT, FAULT_SIZE_BYTES, fault_report_decode),
      make_shape<command_request>(
          "COMMAND_COMPACT", MESSAGE_COMMAND_COMPACT, COMMAND_COMPACT_SIZE_BYTES,
          command_compact_decode,
          [](const command_request& request) { return compact_message_of(request); })};
  all.front().has_longer_versions = true;
  for (std::uint8_t motors = 0; motors <= MOTORS_MAX; ++motors) {
    all.push_back(make_shape<command_request>(
        "COMMAND of " + std::to_string(motors), MESSAGE_COMMAND, 9U + 2U * motors,
        [=](const std::uint8_t* in, std::size_t size, command_request* request) {
          return command_request_decode(in, size, motors, request);
        },
        [=](const command_request& request) { return message_of(request, motors); }));
    for (std::uint8_t encoders = 0; encoders <= ENCODERS_MAX; ++encoders) {
      for (const bool has_marks : {false, true}) {
        const sample_shape shape{encoders, motors, has_marks};
        const std::string name = std::to_string(motors) + " motors, " + std::to_string(encoders) +
                                 " encoders" + (has_marks ? ", marks" : "");
        all.push_back(make_shape<sample_report>(
            "SAMPLE of " + name, MESSAGE_SAMPLE,
            14U + 2U * motors + 4U * encoders + (has_marks ? 4U : 0U),
            [=](const std::uint8_t* in, std::size_t size, sample_report* report) {
              return sample_report_decode(in, size, shape, report);
            },
            [=](const sample_report& report) { return message_of(report, shape); }));
        if (motors != 1 || encoders < 1 || encoders > COMPACT_ENCODERS_MAX || has_marks) continue;
        all.push_back(make_shape<sample_report>(
            "SAMPLE_COMPACT of " + name, MESSAGE_SAMPLE_COMPACT, 11U + 3U * encoders,
            [=](const std::uint8_t* in, std::size_t size, sample_report* report) {
              return sample_compact_decode(in, size, shape, report);
            },
            [=](const sample_report& report) { return compact_message_of(report, shape); }));
      }
    }
  }
  return all;
}

Bytes random_message(const Shape& shape, std::mt19937_64& random) {
  Bytes bytes(shape.size_bytes);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  bytes[0] = shape.type;
  if (shape.type == MESSAGE_HELLO_REPLY) bytes[1] = PROTOCOL_VERSION;
  // A command of -32768 is read as -32767.
  for (std::size_t k = 1; k < bytes.size(); ++k) {
    const bool is_command = shape.type == MESSAGE_COMMAND || shape.type == MESSAGE_COMMAND_COMPACT;
    if (is_command && bytes[k] == 0x80) bytes[k] = 0x81;
  }
  return bytes;
}

// Catches a field that is left out, read from another's place, of the wrong width or sign, or of a
// part other than the first.
TEST(WireProperty, EveryMessageOfEveryShapeKeepsAllItsBytes) {
  std::mt19937_64 random(31);
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    for (int k = 0; k < 20; ++k) {
      const Bytes bytes = random_message(shape, random);
      ASSERT_EQ(shape.recode(bytes), bytes);
    }
  }
}

// Every size but the right one, and every type that differs in one bit.
TEST(WireProperty, DecodersRefuseOtherSizesAndTypesAndChangeNothing) {
  std::mt19937_64 random(32);
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    const Bytes bytes = random_message(shape, random);
    for (std::size_t size = 0; size <= MESSAGE_SIZE_BYTES_MAX + 1; ++size) {
      Bytes other = bytes;
      other.resize(size, 0x11);
      const bool fits =
          shape.has_longer_versions ? size >= shape.size_bytes : size == shape.size_bytes;
      ASSERT_EQ(!shape.recode(other).empty(), fits) << size << " bytes";
    }
    for (int bit = 0; bit < 8; ++bit) {
      Bytes other = bytes;
      other[0] ^= static_cast<std::uint8_t>(1U << bit);
      const bool is_hello = shape.type == MESSAGE_HELLO && other[0] == MESSAGE_HELLO_REPLY;
      ASSERT_EQ(!shape.recode(other).empty(), is_hello) << "bit " << bit;
    }
  }
  Bytes reply(HELLO_REPLY_SIZE_BYTES);
  reply[0] = MESSAGE_HELLO_REPLY;
  for (int version = 0; version < 256; ++version) {
    reply[1] = static_cast<std::uint8_t>(version);
    hello_reply read{};
    EXPECT_EQ(hello_reply_decode(reply.data(), reply.size(), &read), version == PROTOCOL_VERSION);
    hello_head head{};
    EXPECT_TRUE(hello_head_decode(reply.data(), reply.size(), &head));
    EXPECT_EQ(head.protocol_version, version);
  }
}

// Entries beyond the shape are zero, so that nobody uses those of an earlier message.
TEST(WireProperty, EntriesBeyondTheShapeAreZero) {
  std::mt19937_64 random(33);
  for (std::uint8_t motors = 0; motors <= MOTORS_MAX + 1; ++motors) {
    for (std::uint8_t encoders = 0; encoders <= ENCODERS_MAX + 1; ++encoders) {
      const sample_shape shape{encoders, motors, false};
      const bool is_compact =
          motors == 1 && encoders >= 1 && encoders <= COMPACT_ENCODERS_MAX;
      EXPECT_EQ(sample_shape_is_compact(shape), is_compact);
      EXPECT_FALSE(sample_shape_is_compact({encoders, motors, true}));
      for (const bool compact : {false, true}) {
        Bytes bytes(compact ? 11U + 3U * encoders : 14U + 2U * motors + 4U * encoders);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() % 255 + 1);
        bytes[0] = compact ? MESSAGE_SAMPLE_COMPACT : MESSAGE_SAMPLE;
        sample_report report;
        std::memset(&report, kUntouched, sizeof(report));
        const bool is_read =
            compact ? sample_compact_decode(bytes.data(), bytes.size(), shape, &report)
                    : sample_report_decode(bytes.data(), bytes.size(), shape, &report);
        ASSERT_EQ(is_read, compact ? is_compact : motors <= MOTORS_MAX && encoders <= ENCODERS_MAX);
        if (!is_read) continue;
        for (std::size_t k = 0; k < MOTORS_MAX; ++k) {
          EXPECT_EQ(report.command_q15[k] != 0, k < motors) << k;
        }
        for (std::size_t k = 0; k < ENCODERS_MAX; ++k) {
          EXPECT_EQ(report.encoder_counts[k] != 0, k < encoders) << k;
        }
        EXPECT_EQ(report.index_passed, 0);
        EXPECT_EQ(report.home_closed, 0);
      }
    }
    Bytes bytes(9U + 2U * motors, 3);
    bytes[0] = MESSAGE_COMMAND;
    command_request request;
    std::memset(&request, kUntouched, sizeof(request));
    ASSERT_EQ(command_request_decode(bytes.data(), bytes.size(), motors, &request),
              motors <= MOTORS_MAX);
    for (std::size_t k = 0; motors <= MOTORS_MAX && k < MOTORS_MAX; ++k) {
      EXPECT_EQ(request.command_q15[k] != 0, k < motors) << k;
    }
  }
  const Bytes compact = {MESSAGE_COMMAND_COMPACT, 1, 2, 3, 4, 5, 6, 7, 8};
  command_request request;
  std::memset(&request, kUntouched, sizeof(request));
  ASSERT_TRUE(command_compact_decode(compact.data(), compact.size(), &request));
  for (std::size_t k = 1; k < MOTORS_MAX; ++k) EXPECT_EQ(request.command_q15[k], 0) << k;
}

// Numbers at both ends of their range: two's complement of 16, 24 and 32 bits.
TEST(WireProperty, SignedNumbersKeepTheirSignAtTheEndsOfTheirRange) {
  for (const std::int32_t counts : {0, 1, -1, 8'388'607, -8'388'608}) {
    sample_report report{};
    report.encoder_counts[1] = counts;
    const sample_shape shape{2, 1, false};
    sample_report read{};
    const Bytes bytes = compact_message_of(report, shape);
    ASSERT_TRUE(sample_compact_decode(bytes.data(), bytes.size(), shape, &read));
    EXPECT_EQ(read.encoder_counts[1], counts);
  }
  for (const std::int32_t counts : {0, 1, -1, 2'147'483'647, -2'147'483'647 - 1}) {
    sample_report report{};
    report.encoder_counts[15] = counts;
    report.command_q15[7] = static_cast<std::int16_t>(counts >> 16);
    const sample_shape shape{16, 8, false};
    sample_report read{};
    const Bytes bytes = message_of(report, shape);
    ASSERT_TRUE(sample_report_decode(bytes.data(), bytes.size(), shape, &read));
    EXPECT_EQ(read.encoder_counts[15], counts);
    EXPECT_EQ(read.command_q15[7], counts >> 16);
    const fault_report fault{1, 2, 3, 4, counts};
    fault_report read_fault{};
    const Bytes fault_bytes = message_of(fault);
    ASSERT_TRUE(fault_report_decode(fault_bytes.data(), fault_bytes.size(), &read_fault));
    EXPECT_EQ(read_fault.detail, counts);
  }
}

// Every set of sensors: the message has 12 bytes for each, others are marked as not read, and
// another size or an unknown sensor is refused.
TEST(WireProperty, InertialMessagesOfEverySetOfSensors) {
  std::mt19937_64 random(34);
  for (int sensors = 0; sensors < 256; ++sensors) {
    SCOPED_TRACE(sensors);
    std::size_t count = 0;
    for (int k = 0; k < INERTIAL_SENSORS_MAX; ++k) count += (sensors >> k) & 1;
    Bytes bytes(INERTIAL_HEAD_SIZE_BYTES + 12 * count);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    bytes[0] = MESSAGE_INERTIAL;
    bytes[3] = static_cast<std::uint8_t>(sensors);
    inertial_report report;
    std::memset(&report, kUntouched, sizeof(report));
    const bool is_valid = sensors > 0 && sensors < (1 << INERTIAL_SENSORS_MAX);
    ASSERT_EQ(inertial_report_decode(bytes.data(), bytes.size(), &report), is_valid);
    report.sensors = static_cast<std::uint8_t>(sensors);
    if (!is_valid) {
      // Sensors that do not exist are not encoded.
      EXPECT_EQ(message_of(report).size(), bytes.size());
      EXPECT_EQ(message_of(report)[3], sensors & 0x0F);
      continue;
    }
    EXPECT_EQ(message_of(report), bytes);
    for (int k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
      if (((sensors >> k) & 1) != 0) continue;
      for (const std::int16_t counts : report.counts[k]) EXPECT_EQ(counts, INERTIAL_NOT_READ);
    }
    for (std::size_t size = 0; size <= INERTIAL_SIZE_BYTES_MAX + 1; ++size) {
      Bytes other = bytes;
      other.resize(size);
      inertial_report read;
      std::memset(&read, kUntouched, sizeof(read));
      EXPECT_EQ(inertial_report_decode(other.data(), size, &read), size == bytes.size());
      if (size != bytes.size()) EXPECT_EQ(read.sensors, kUntouched);
    }
  }
}

void append_number(Bytes& bytes, std::uint64_t value, int size_bytes) {
  for (int k = 0; k < size_bytes; ++k) bytes.push_back(static_cast<std::uint8_t>(value >> 8 * k));
}

// The hash is that of the bytes that session.h lists, in this order, for every number of parts.
// Both ends share the code, so a field that is left out would go unnoticed between them.
TEST(WireProperty, ConfigurationHashIsThatOfEveryListedField) {
  std::mt19937_64 random(35);
  for (int run = 0; run < 200; ++run) {
    hello_reply reply{};
    reply.unit_id = random();
    reply.tick_rate_Hz = static_cast<std::uint16_t>(random());
    reply.ttl_max_ms = static_cast<std::uint8_t>(random());
    reply.capabilities = static_cast<std::uint8_t>(random());
    reply.encoder_count = static_cast<std::uint8_t>(random() % (ENCODERS_MAX + 3));
    reply.motor_count = static_cast<std::uint8_t>(random() % (MOTORS_MAX + 3));
    reply.inertial_count = static_cast<std::uint8_t>(random());
    Bytes listed;
    append_number(listed, reply.unit_id, 8);
    append_number(listed, reply.tick_rate_Hz, 2);
    listed.insert(listed.end(), {reply.ttl_max_ms, reply.capabilities, reply.encoder_count,
                                 reply.motor_count, reply.inertial_count});
    for (std::uint8_t& ticks : reply.inertial_ticks) {
      ticks = static_cast<std::uint8_t>(random());
      listed.push_back(ticks);
    }
    part_description encoders[ENCODERS_MAX], motors[MOTORS_MAX];
    const auto fill = [&](part_description* parts, std::size_t size, std::size_t count) {
      for (std::size_t k = 0; k < size; ++k) {
        parts[k] = {static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(random()),
                    static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
        if (k >= count) continue;
        listed.insert(listed.end(), {parts[k].kind, parts[k].flags});
        append_number(listed, parts[k].scale, 4);
        append_number(listed, parts[k].modulus, 4);
      }
    };
    fill(encoders, ENCODERS_MAX, reply.encoder_count);
    fill(motors, MOTORS_MAX, reply.motor_count);
    // crc32c continues from its own result, because the seed is XORed into the inverted preset.
    EXPECT_EQ(unit_configuration_hash(&reply, encoders, motors),
              crc32c(0, listed.data(), listed.size()));
  }
}

// For every valid type and size: the buffer that a frame needs is exact, the frame is read back,
// and one more byte of capacity or one wrong bit of the checksum matters as it should.
TEST(WireProperty, FramesOfEveryTypeAndSizeNeedAnExactBuffer) {
  std::mt19937_64 random(36);
  for (int type = 0; type < 256; ++type) {
    for (std::size_t size = 1; size <= MESSAGE_SIZE_BYTES_MAX; ++size) {
      Bytes message(size);
      for (std::uint8_t& byte : message) byte = static_cast<std::uint8_t>(random() % 3);
      message[0] = static_cast<std::uint8_t>(type);
      const bool is_valid = message_size_is_valid(message[0], size);
      const std::size_t needed = size + message_crc_size_bytes(message[0]) + 2;
      Bytes out(needed + 1, kUntouched);
      EXPECT_EQ(frame_encode(message.data(), size, out.data(), needed - 1), 0U);
      EXPECT_EQ(out, Bytes(needed + 1, kUntouched)) << "refused, but wrote";
      ASSERT_EQ(frame_encode(message.data(), size, out.data(), needed), is_valid ? needed : 0U);
      if (!is_valid) continue;
      EXPECT_EQ(out[needed], kUntouched);
      EXPECT_EQ(out[needed - 1], 0);
      Bytes read(MESSAGE_SIZE_BYTES_MAX, kUntouched);
      std::size_t read_size = 0;
      ASSERT_EQ(frame_decode(out.data(), needed - 1, read.data(), &read_size), FRAME_OK);
      read.resize(read_size);
      EXPECT_EQ(read, message);
    }
  }
}

// A receiver keeps frames up to the longest, reports longer ones once, and starts afresh behind
// each delimiter.
TEST(WireProperty, ReceiverReportsEachFrameOnceAtItsDelimiter) {
  std::mt19937_64 random(37);
  frame_receiver receiver{};
  for (int k = 0; k < 2000; ++k) {
    const std::size_t size = random() % 4 == 0 ? FRAME_SIZE_BYTES_MAX - 1 + random() % 4
                                               : random() % 3;
    const bool is_frame = random() % 2 == 0;
    Bytes bytes(size, 7);
    const clear_request request{1, static_cast<std::uint16_t>(k)};
    if (is_frame) bytes = test_support::frame_of(message_of(request));
    if (is_frame) bytes.pop_back();
    for (const std::uint8_t byte : bytes) ASSERT_EQ(frame_receiver_push(&receiver, byte),
                                                    FRAME_PENDING);
    const frame_status status = frame_receiver_push(&receiver, 0);
    if (is_frame) {
      ASSERT_EQ(status, FRAME_OK);
      ASSERT_EQ(Bytes(receiver.message, receiver.message + receiver.message_size_bytes),
                message_of(request));
    } else if (bytes.empty()) {
      ASSERT_EQ(status, FRAME_PENDING);
    } else {
      ASSERT_EQ(status == FRAME_TOO_LONG, bytes.size() > FRAME_SIZE_BYTES_MAX);
      ASSERT_NE(status, FRAME_OK);
      ASSERT_NE(status, FRAME_PENDING);
    }
  }
}

// Stuffing needs exactly one byte more, and the decoder exactly one less.
TEST(WireProperty, StuffingNeedsExactlyOneByte) {
  for (std::size_t size = 0; size <= 255; ++size) {
    const Bytes data(size, 1);
    Bytes out(300, kUntouched);
    EXPECT_EQ(cobs_encode(data.data(), size, out.data(), size), 0U);
    EXPECT_EQ(cobs_encode(data.data(), size, out.data(), size + 1), size <= 254 ? size + 1 : 0U);
    if (size > 254) continue;
    Bytes plain(300);
    std::size_t plain_size = 999;
    EXPECT_TRUE(cobs_decode(out.data(), size + 1, plain.data(), size, &plain_size));
    EXPECT_EQ(plain_size, size);
    if (size == 0) continue;
    EXPECT_FALSE(cobs_decode(out.data(), size + 1, plain.data(), size - 1, &plain_size));
    EXPECT_FALSE(cobs_decode(out.data(), size, plain.data(), 300, &plain_size)) << "cut";
    out[size] = 0;
    EXPECT_FALSE(cobs_decode(out.data(), size + 1, plain.data(), 300, &plain_size)) << "a zero";
  }
  const Bytes long_code(256, 1);
  Bytes plain(300);
  std::size_t plain_size = 0;
  EXPECT_TRUE(cobs_decode(long_code.data(), 255, plain.data(), 300, &plain_size));
  EXPECT_FALSE(cobs_decode(long_code.data(), 256, plain.data(), 300, &plain_size));
  EXPECT_FALSE(cobs_decode(long_code.data(), 0, plain.data(), 300, &plain_size));
}

}  // namespace
