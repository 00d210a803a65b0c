#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "firmware_iface/wire/coding/crc.h"
#include "firmware_iface/wire/command.h"
#include "firmware_iface/wire/fault.h"
#include "firmware_iface/wire/frame.h"
#include "firmware_iface/wire/inertial.h"
#include "firmware_iface/wire/message_type.h"
#include "firmware_iface/wire/sample.h"
#include "firmware_iface/wire/session.h"
#include "tests/firmware_iface/protocol_document.hpp"
#include "tests/support/wire_messages.hpp"

namespace {

using protocol_document::GoldenVector;
using test_support::compact_message_of;
using test_support::message_of;
using Bytes = test_support::WireBytes;

// Assigns a field of the vector to a member of any integer type.
template <typename Integer>
void take(const GoldenVector& vector, const std::string& name, Integer& member,
          std::size_t index = 0) {
  member = static_cast<Integer>(vector.field(name, index));
}

sample_shape shape_of(const GoldenVector& v) {
  return {static_cast<std::uint8_t>(v.fields.at("encoder_counts").size()),
          static_cast<std::uint8_t>(v.fields.at("command_q15").size()),
          v.fields.contains("index_passed")};
}

std::uint8_t motors_of(const GoldenVector& v) {
  return static_cast<std::uint8_t>(v.fields.at("command_q15").size());
}

// --- The fields of each message

void fill(const GoldenVector& v, hello_head& m) {
  take(v, "protocol_version", m.protocol_version);
  take(v, "layout_hash", m.layout_hash);
  take(v, "nonce", m.nonce);
}

void fill(const GoldenVector& v, hello_reply& m) {
  take(v, "protocol_version", m.protocol_version);
  take(v, "layout_hash", m.layout_hash);
  take(v, "nonce", m.nonce);
  take(v, "unit_id", m.unit_id);
  take(v, "boot_count", m.boot_count);
  take(v, "tick_rate_Hz", m.tick_rate_Hz);
  take(v, "ttl_max_ms", m.ttl_max_ms);
  take(v, "capabilities", m.capabilities);
  take(v, "fault_flags", m.fault_flags);
  take(v, "configuration_hash", m.configuration_hash);
  take(v, "stream_count", m.stream_count);
  take(v, "samples_sent", m.samples_sent);
  take(v, "encoder_count", m.encoder_count);
  take(v, "motor_count", m.motor_count);
  take(v, "inertial_count", m.inertial_count);
  for (std::size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
    take(v, "inertial_ticks", m.inertial_ticks[k], k);
  }
}

void fill(const GoldenVector& v, configure_request& m) {
  take(v, "sequence", m.sequence);
  take(v, "flags", m.flags);
  take(v, "divider", m.divider);
  take(v, "command_age_ticks", m.command_age_ticks);
  for (std::size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
    take(v, "inertial_divider", m.inertial_divider[k], k);
  }
}

void fill(const GoldenVector& v, configure_reply& m) {
  take(v, "sequence", m.sequence);
  take(v, "result", m.result);
  take(v, "flags", m.flags);
  take(v, "divider", m.divider);
  take(v, "samples_sent", m.samples_sent);
  take(v, "start_tick_us", m.start_tick_us);
  take(v, "stream_count", m.stream_count);
}

void fill(const GoldenVector& v, clear_request& m) {
  take(v, "step", m.step);
  take(v, "token", m.token);
}

void fill(const GoldenVector& v, clear_reply& m) {
  take(v, "step", m.step);
  take(v, "result", m.result);
  take(v, "token", m.token);
  take(v, "fault_flags", m.fault_flags);
}

void fill(const GoldenVector& v, fault_report& m) {
  take(v, "fault_flags", m.fault_flags);
  take(v, "cause", m.cause);
  take(v, "sample_sequence", m.sample_sequence);
  take(v, "tick_us", m.tick_us);
  take(v, "detail", m.detail);
}

void fill(const GoldenVector& v, describe_request& m) {
  take(v, "part", m.part);
  take(v, "index", m.index);
}

void fill(const GoldenVector& v, describe_reply& m) {
  take(v, "part", m.part);
  take(v, "index", m.index);
  take(v, "kind", m.description.kind);
  take(v, "flags", m.description.flags);
  take(v, "scale", m.description.scale);
  take(v, "modulus", m.description.modulus);
}

void fill(const GoldenVector& v, sample_report& m) {
  take(v, "sequence", m.sequence);
  take(v, "tick_us", m.tick_us);
  take(v, "command_sequence", m.command_sequence);
  take(v, "encoders_valid", m.encoders_valid);
  take(v, "status", m.status);
  take(v, "fault_flags", m.fault_flags);
  take(v, "error_count", m.error_count);
  for (std::size_t k = 0; k < MOTORS_MAX; ++k) take(v, "command_q15", m.command_q15[k], k);
  for (std::size_t k = 0; k < ENCODERS_MAX; ++k) take(v, "encoder_counts", m.encoder_counts[k], k);
  take(v, "index_passed", m.index_passed);
  take(v, "home_closed", m.home_closed);
  if (v.message != "SAMPLE_COMPACT") return;
  const std::uint64_t packed = v.field("encoders_valid_status");
  m.encoders_valid = packed & 0xFU;
  m.status = static_cast<std::uint8_t>(packed >> 4);
}

void fill(const GoldenVector& v, inertial_report& m) {
  take(v, "sequence", m.sequence);
  take(v, "sensors", m.sensors);
  std::size_t entry = 0;
  for (std::size_t k = 0; k < INERTIAL_SENSORS_MAX; ++k) {
    if (((m.sensors >> k) & 1) == 0) continue;
    for (std::size_t axis = 0; axis < 3; ++axis, ++entry) {
      take(v, "rate_counts", m.counts[k][axis], entry);
      take(v, "force_counts", m.counts[k][axis + 3], entry);
    }
  }
}

void fill(const GoldenVector& v, command_request& m) {
  take(v, "sequence", m.sequence);
  take(v, "answers", m.answers);
  take(v, "flags", m.flags);
  take(v, "ttl_ms", m.ttl_ms);
  for (std::size_t k = 0; k < MOTORS_MAX; ++k) take(v, "command_q15", m.command_q15[k], k);
}

// --- How each message is written and read

struct Codec {
  std::function<Bytes(const GoldenVector&)> encode;
  // The message that was decoded and encoded again; empty if it was not decoded.
  std::function<Bytes(const GoldenVector&, const Bytes&)> read_back;
};

template <typename Message, typename Encode, typename Decode>
Codec codec(const Encode& encode, const Decode& decode) {
  return {[=](const GoldenVector& v) {
            Message m{};
            fill(v, m);
            return encode(v, m);
          },
          [=](const GoldenVector& v, const Bytes& bytes) {
            Message m{};
            return decode(v, bytes, m) ? encode(v, m) : Bytes{};
          }};
}

// Of a message whose parts are in itself.
template <typename Message>
Codec codec(bool (*decode)(const std::uint8_t*, std::size_t, Message*)) {
  return codec<Message>([](const GoldenVector&, const Message& m) { return message_of(m); },
                        [=](const GoldenVector&, const Bytes& b, Message& m) {
                          return decode(b.data(), b.size(), &m);
                        });
}

const std::map<std::string, Codec>& codecs() {
  static const std::map<std::string, Codec> kCodecs = {
      {"HELLO", codec(hello_head_decode)},
      {"HELLO_REPLY", codec(hello_reply_decode)},
      {"CONFIGURE", codec(configure_request_decode)},
      {"CONFIGURE_REPLY", codec(configure_reply_decode)},
      {"CLEAR", codec(clear_request_decode)},
      {"CLEAR_REPLY", codec(clear_reply_decode)},
      {"FAULT", codec(fault_report_decode)},
      {"DESCRIBE", codec(describe_request_decode)},
      {"DESCRIBE_REPLY", codec(describe_reply_decode)},
      {"INERTIAL", codec(inertial_report_decode)},
      {"SAMPLE",
       codec<sample_report>(
           [](const GoldenVector& v, const sample_report& m) { return message_of(m, shape_of(v)); },
           [](const GoldenVector& v, const Bytes& b, sample_report& m) {
             return sample_report_decode(b.data(), b.size(), shape_of(v), &m);
           })},
      {"SAMPLE_COMPACT", codec<sample_report>(
                             [](const GoldenVector& v, const sample_report& m) {
                               return compact_message_of(m, shape_of(v));
                             },
                             [](const GoldenVector& v, const Bytes& b, sample_report& m) {
                               return sample_compact_decode(b.data(), b.size(), shape_of(v), &m);
                             })},
      {"COMMAND",
       codec<command_request>([](const GoldenVector& v,
                                 const command_request& m) { return message_of(m, motors_of(v)); },
                              [](const GoldenVector& v, const Bytes& b, command_request& m) {
                                return command_request_decode(b.data(), b.size(), motors_of(v), &m);
                              })},
      {"COMMAND_COMPACT",
       codec<command_request>(
           [](const GoldenVector&, const command_request& m) { return compact_message_of(m); },
           [](const GoldenVector&, const Bytes& b, command_request& m) {
             return command_compact_decode(b.data(), b.size(), &m);
           })},
  };
  return kCodecs;
}

// The vectors were computed by a separate program from the layout block. Catches a field at a wrong
// offset, of wrong width or byte order, and a wrong CRC, seed or stuffing. Decoding the golden
// bytes and encoding the result must give the same bytes.
TEST(Protocol, EncodersAndDecodersAgreeWithTheGoldenBytes) {
  std::set<std::string> covered;
  for (const GoldenVector& vector : protocol_document::golden_vectors()) {
    SCOPED_TRACE(vector.message);
    const Codec& codec = codecs().at(vector.message);
    EXPECT_EQ(test_support::frame_of(codec.encode(vector)), vector.frame);
    Bytes message(MESSAGE_SIZE_BYTES_MAX);
    std::size_t size = 0;
    ASSERT_EQ(frame_decode(vector.frame.data(), vector.frame.size() - 1, message.data(), &size),
              FRAME_OK);
    message.resize(size);
    EXPECT_EQ(codec.read_back(vector, message), message);
    covered.insert(vector.message);
  }
  EXPECT_EQ(covered.size(), codecs().size()) << "every message has a golden vector";
}

// With a changed layout and an unchanged hash, two ends could misread each other.
TEST(Protocol, LayoutHashMatchesTheDocument) {
  const std::string layout = protocol_document::fenced_block("layout");
  EXPECT_EQ(LAYOUT_HASH,
            crc32c(0, reinterpret_cast<const std::uint8_t*>(layout.data()), layout.size()));
}

// Compares the code's sizes with the document's widths, for every number of parts.
TEST(Protocol, SizesMatchTheLayout) {
  const auto lines = protocol_document::layout_lines();
  ASSERT_EQ(lines.size(), codecs().size());
  for (const auto& line : lines) {
    SCOPED_TRACE(line.message);
    const auto type = static_cast<std::uint8_t>(line.type);
    EXPECT_TRUE(message_type_is_known(type));
    std::set<int> possible;
    const bool is_compact = type == MESSAGE_SAMPLE_COMPACT;
    const int encoders_max = is_compact ? int{COMPACT_ENCODERS_MAX} : int{ENCODERS_MAX};
    for (int encoders = 1; encoders <= encoders_max; ++encoders) {
      for (int motors = 0; motors <= MOTORS_MAX; ++motors) {
        for (int sensors = 1; sensors <= INERTIAL_SENSORS_MAX; ++sensors) {
          const int size = line.size_bytes + encoders * line.encoder_size_bytes +
                           motors * line.motor_size_bytes + sensors * line.sensor_size_bytes;
          possible.insert({size, size + line.marks_size_bytes});
        }
      }
    }
    const bool hello = type == MESSAGE_HELLO || type == MESSAGE_HELLO_REPLY;
    for (int size = 0; size <= MESSAGE_SIZE_BYTES_MAX + 1; ++size) {
      bool expected = possible.contains(size);
      if (hello) expected = size >= HELLO_HEAD_SIZE_BYTES && size <= HELLO_REPLY_SIZE_BYTES_MAX;
      EXPECT_EQ(message_size_is_valid(type, static_cast<std::size_t>(size)), expected) << size;
    }
  }
}

// Published check values. That of CRC-16/0x5935 comes from a bit-by-bit division in this test.
TEST(Crc, MatchesCheckValues) {
  const std::string digits = "123456789";
  const auto* data = reinterpret_cast<const std::uint8_t*>(digits.data());
  EXPECT_EQ(crc32c(0, data, digits.size()), 0xE3069283U);
  std::uint32_t remainder = 0xFFFFU;
  for (const char c : digits) {
    remainder ^= static_cast<std::uint32_t>(static_cast<std::uint8_t>(c)) << 8;
    for (int bit = 0; bit < 8; ++bit) {
      remainder = (remainder & 0x8000U) != 0 ? (remainder << 1) ^ 0x15935U : remainder << 1;
    }
  }
  EXPECT_EQ(crc16_5935(0, data, digits.size()), remainder);
}

// The seed separates ends of different layouts: a frame of one is refused by the other.
TEST(Crc, DependsOnTheSeed) {
  const std::array<std::uint8_t, 3> data = {1, 2, 3};
  EXPECT_NE(crc32c(0, data.data(), data.size()), crc32c(1, data.data(), data.size()));
  EXPECT_NE(crc16_5935(0, data.data(), data.size()), crc16_5935(1, data.data(), data.size()));
}

}  // namespace
