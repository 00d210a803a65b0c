#include "proto/framing/frame.hpp"

#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "proto/stream.pb.h"
#include "tests/support/refusal.hpp"

namespace proto {
namespace {

using rigcal::v1::StreamRequest;

const std::vector<FrameLimit> kLimits = {
    {StreamRequest::kOpenSession, 256, 16},
    {StreamRequest::kSampleBatch, 4096, 64},
    {StreamRequest::kCloseSession, 32, 4},
};

StreamRequest make_open() {
  StreamRequest request;
  request.mutable_open_session()->set_session_id("bench-1");
  (*request.mutable_open_session()->mutable_metadata())["rig"] = "furuta";
  return request;
}

StreamRequest make_batch(std::uint64_t sequence, int sample_count) {
  StreamRequest request;
  request.mutable_sample_batch()->set_batch_sequence(sequence);
  for (int k = 0; k < sample_count; ++k) {
    auto* sample = request.mutable_sample_batch()->add_samples();
    sample->set_timestamp(1e-3 * k);
    sample->add_angle_rad(0.1 * k);
  }
  return request;
}

std::string encode(const StreamRequest& request) {
  std::string bytes;
  EXPECT_TRUE(append_frame(request, kLimits, bytes).ok());
  return bytes;
}

std::span<const std::uint8_t> as_span(const std::string& bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

std::string length_prefix(std::uint32_t length) {
  std::string bytes;
  for (unsigned k = 0; k < 4; ++k) bytes.push_back(static_cast<char>(length >> (8 * k) & 0xff));
  return bytes;
}

// A socket cuts a stream anywhere. Catches a decoder that relies on whole frames per read, or that
// loses its position between length, tag and payload.
TEST(FrameDecoder, GivesTheSameFramesForAnyPiecesOfTheStream) {
  const std::string stream = encode(make_open()) + encode(make_batch(1, 0)) +
                             encode(make_batch(2, 20)) + encode(make_open());
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    FrameDecoder decoder(kLimits);
    std::vector<Frame> frames;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      const std::string part = stream.substr(at, piece);
      ASSERT_TRUE(decoder.feed(as_span(part), frames).ok());
    }
    ASSERT_EQ(frames.size(), 4u) << "pieces of " << piece;
    EXPECT_TRUE(decoder.idle());
    EXPECT_EQ(frames[2].type, static_cast<std::uint32_t>(StreamRequest::kSampleBatch));
    StreamRequest request;
    ASSERT_TRUE(parse_frame(frames[2], kLimits, request).ok());
    EXPECT_EQ(request.SerializeAsString(), make_batch(2, 20).SerializeAsString());
  }
}

// A header that claims 4 GiB must be refused once the type is known, before anything is stored. The
// limit depends on the type: a batch may be larger than an opening.
TEST(FrameDecoder, RefusesATooLongFrameByItsHeader) {
  const auto header = [](std::uint32_t length, int type) {
    return length_prefix(length) + static_cast<char>(type << 3 | 2);
  };
  std::vector<Frame> frames;
  for (const std::uint32_t length : {4097u, 0x7fffffffu, 0xffffffffu}) {
    FrameDecoder decoder(kLimits);
    const Status status =
        decoder.feed(as_span(header(length, StreamRequest::kSampleBatch)), frames);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kTooLarge);
    EXPECT_NE(status.error().detail.find(std::to_string(length)), std::string::npos);
  }
  EXPECT_TRUE(
      FrameDecoder(kLimits).feed(as_span(header(4096, StreamRequest::kSampleBatch)), frames).ok());
  EXPECT_FALSE(
      FrameDecoder(kLimits).feed(as_span(header(257, StreamRequest::kOpenSession)), frames).ok());
  EXPECT_TRUE(frames.empty());
}

// Frames before the damage were received and count. Nothing after it can be trusted, not even bytes
// that look right. Catches a decoder that resynchronizes by chance.
TEST(FrameDecoder, DeliversFramesBeforeDamageOnly) {
  FrameDecoder decoder(kLimits);
  std::vector<Frame> frames;
  const std::string unknown_type = length_prefix(10) + static_cast<char>(9 << 3 | 2);
  EXPECT_FALSE(decoder.feed(as_span(encode(make_open()) + unknown_type), frames).ok());
  EXPECT_EQ(frames.size(), 1u);
  const Status later = decoder.feed(as_span(encode(make_open())), frames);
  ASSERT_FALSE(later.ok());
  EXPECT_EQ(later.error().code, ErrorCode::kClosed);
  EXPECT_EQ(frames.size(), 1u);
  EXPECT_FALSE(decoder.idle());
}

// At every position, an end of stream inside a frame is distinguished from one between frames.
TEST(FrameDecoder, IsIdleExactlyBetweenFrames) {
  const std::string frame = encode(make_batch(1, 3));
  for (std::size_t size = 0; size <= frame.size(); ++size) {
    FrameDecoder decoder(kLimits);
    std::vector<Frame> frames;
    ASSERT_TRUE(decoder.feed(as_span(frame.substr(0, size)), frames).ok());
    EXPECT_EQ(decoder.idle(), size == 0 || size == frame.size()) << size;
    EXPECT_EQ(frames.size(), size == frame.size() ? 1u : 0u);
  }
}

// Random bytes and damaged frames must not crash or store more than was sent, and every delivered
// message is within the limits.
TEST(FrameDecoder, SurvivesGarbage) {
  const google::protobuf::LogSilencer quiet;
  std::mt19937 random(11);
  const std::string good = encode(make_batch(1, 5)) + encode(make_open());
  int delivered = 0, refused = 0;
  for (int run = 0; run < 20000; ++run) {
    std::string bytes = good;
    for (unsigned k = 0; k <= random() % 3; ++k) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (run % 4 == 0) {
      for (char& byte : bytes) byte = static_cast<char>(random());
    }
    FrameDecoder decoder(kLimits);
    std::vector<Frame> frames;
    refused += decoder.feed(as_span(bytes), frames).ok() ? 0 : 1;
    for (const Frame& frame : frames) {
      ASSERT_LE(frame.payload.size(), bytes.size());
      StreamRequest request;
      delivered += parse_frame(frame, kLimits, request).ok() ? 1 : 0;
    }
  }
  EXPECT_GT(delivered, 1000);
  EXPECT_GT(refused, 1000);
}

// Two bytes on the wire can make an object of hundreds in memory: with a limit on bytes alone, a 4
// KiB frame could allocate a megabyte.
TEST(ParseFrame, RefusesMoreElementsThanAllowedBeforeParsing) {
  StreamRequest many = make_batch(1, 0);
  for (int k = 0; k < 100; ++k) many.mutable_sample_batch()->add_samples();
  StreamRequest packed = make_batch(1, 1);
  for (int k = 0; k < 100; ++k)
    packed.mutable_sample_batch()->mutable_samples(0)->add_encoder_counts(k);
  for (const StreamRequest& request : {many, packed}) {
    FrameDecoder decoder(kLimits);
    std::vector<Frame> frames;
    ASSERT_TRUE(decoder.feed(as_span(encode(request)), frames).ok());
    StreamRequest parsed;
    const Status status = parse_frame(frames.at(0), kLimits, parsed);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kTooLarge);
  }
}

// The type is read from the first tag. A second member of the oneof after it would replace the
// first when parsed, and evade the limit of its own type.
TEST(ParseFrame, RefusesASecondFieldOfTheOneof) {
  const std::string payload =
      make_open().SerializeAsString() + make_batch(1, 2).SerializeAsString();
  StreamRequest request;
  const Status status = parse_frame({StreamRequest::kOpenSession, payload}, kLimits, request);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kDamaged);
}

TEST(AppendFrame, LeavesTheBufferUnchangedIfTheMessageIsTooLarge) {
  std::string out = "before";
  const Status status = append_frame(make_batch(1, 500), kLimits, out);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(out, "before");
}

// Number ranges are checked where every message of every socket passes.
TEST(ParseFrame, RefusesANumberThatItsFieldDoesNotAllow) {
  for (const double timestamp : {std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::infinity(), -1e300}) {
    StreamRequest request = make_batch(1, 3);
    request.mutable_sample_batch()->mutable_samples(2)->set_timestamp(timestamp);
    const std::string payload = request.SerializeAsString();
    StreamRequest parsed;
    const Status status = parse_frame({StreamRequest::kSampleBatch, payload}, kLimits, parsed);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kDamaged);
    test_support::expect_parts(status.error().detail, {"sample_batch.samples[2].timestamp is "});
  }
}

// Compares with a manual count: the batch, 3 samples, 2 + 3 + 1 packed entries.
TEST(CountElements, CountsMessagesAndRepeatedEntriesAtEveryDepth) {
  StreamRequest request = make_batch(1, 3);  // each sample has one angle
  auto* first = request.mutable_sample_batch()->mutable_samples(0);
  first->add_valid(true);
  first->add_encoder_counts(-70000);  // three bytes, one entry
  first->add_encoder_counts(1);
  const std::string bytes = request.SerializeAsString();
  EXPECT_EQ(count_elements(*StreamRequest::descriptor(), bytes, 100), 1u + 3u + 3u + 1u + 2u);
  EXPECT_EQ(count_elements(*StreamRequest::descriptor(), bytes, 4), 5u);
}

// Nesting uses stack in a recursive parser. Groups and cut fields are not valid proto3.
TEST(CountElements, RefusesBytesThatAreNotWellFormed) {
  const std::string good = make_batch(1, 3).SerializeAsString();
  EXPECT_FALSE(count_elements(*StreamRequest::descriptor(), good.substr(0, good.size() - 1), 100));
  EXPECT_FALSE(count_elements(*StreamRequest::descriptor(), "\x13", 100));  // start of a group
  EXPECT_FALSE(count_elements(*StreamRequest::descriptor(), "\x80", 100));  // unfinished varint
}

}  // namespace
}  // namespace proto
