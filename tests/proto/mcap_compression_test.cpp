#include "proto/recording/mcap/mcap_format.hpp"

#include <gtest/gtest.h>

#include <random>

#include "proto/recording/mcap/mcap_reader.hpp"
#include "proto/recording/mcap/mcap_writer.hpp"
#include "tests/proto/mcap_compress.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/support/memory_input_file.hpp"
#include "tests/support/refusal.hpp"

namespace proto {
namespace {

using namespace test_support;

/// All messages of all channels.
class Listener final : public McapVisitor {
 public:
  bool on_message(const McapChannel& channel, const McapSchema*,
                  const McapMessage& message) override {
    append_bytes(said, as_bytes(channel.topic));
    put(said, message.log_time_ns);
    append_bytes(said, message.data);
    return true;
  }
  Bytes said;
};

Result<McapScan> scan(const Bytes& file, Listener& listener) {
  return scan_mcap(*view_as_input_file(file), listener);
}

/// About a hundred messages in several chunks.
Bytes plain_file() {
  const auto disk = std::make_shared<Disk>();
  McapWriter writer(std::make_unique<MemoryOutputFile>(disk), {});
  EXPECT_TRUE(ok(writer.start()));
  const std::uint16_t channel = writer.add_channel("/t", "raw", "", "", {});
  for (std::uint64_t k = 0; k < 400; ++k) {
    const Bytes data(20 + k % 7, static_cast<std::uint8_t>(k));
    EXPECT_TRUE(ok(writer.write_message({channel, 0, k * 10'000'000, 0, data})));
  }
  EXPECT_TRUE(ok(writer.complete()));
  return disk->content;
}

TEST(McapCompression, ChunksAreReadLikeUncompressedOnes) {
  const Bytes plain = plain_file();
  Listener expected;
  ASSERT_TRUE(ok(scan(plain, expected)));
  for (const char* compression : {"zstd", "lz4"}) {
    SCOPED_TRACE(compression);
    const Bytes file = compress_chunks(plain, compression);
    EXPECT_LT(file.size(), plain.size());
    Listener listener;
    const auto result = require(scan(file, listener));
    EXPECT_TRUE(result.intact());
    EXPECT_EQ(listener.said, expected.said);
    EXPECT_EQ(result.skipped_bytes, 0u);
  }
}

// If a declared size differs from the real one, the chunk is damaged.
TEST(McapCompression, WrongDeclaredSizesCountAsDamage) {
  const Bytes bytes(1000, 7);
  for (const char* compression : {"zstd", "lz4"}) {
    SCOPED_TRACE(compression);
    const Bytes packed = compressed(compression, bytes);
    Bytes out;
    EXPECT_TRUE(decompress_records(compression, packed, 1000, out));
    EXPECT_EQ(out, bytes);
    EXPECT_FALSE(decompress_records(compression, packed, 999, out));
    EXPECT_FALSE(decompress_records(compression, packed, 1001, out));
    EXPECT_FALSE(decompress_records(compression, packed, 0, out));
    for (std::size_t size = 0; size < packed.size(); ++size) {
      EXPECT_FALSE(decompress_records(compression, std::span(packed).first(size), 1000, out))
          << size;
    }
    Bytes longer = packed;
    longer.push_back(1);
    EXPECT_FALSE(decompress_records(compression, longer, 1000, out));
  }
  Bytes out;
  EXPECT_FALSE(decompress_records("lzma", bytes, 1000, out));
}

// The reader continues after damage at any byte, and only the damaged chunk is lost.
TEST(McapCompression, DamageAffectsOnlyItsChunk) {
  const Bytes plain = plain_file();
  Listener whole;
  const auto undamaged = require(scan(plain, whole));
  const std::uint64_t chunks = undamaged.intact_chunk_count;
  ASSERT_GT(chunks, 3u);
  std::mt19937 random(5);
  for (const char* compression : {"zstd", "lz4"}) {
    SCOPED_TRACE(compression);
    const Bytes good = compress_chunks(plain, compression);
    for (int run = 0; run < 300; ++run) {
      Bytes file = good;
      file[kMcapMagic.size() + random() % (file.size() - kMcapMagic.size())] ^=
          static_cast<std::uint8_t>(1 + random() % 255);
      Listener listener;
      const auto result = scan(file, listener);
      // Damage to the compression's name gives another, unsupported compression.
      if (!result.ok()) {
        EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
        continue;
      }
      EXPECT_LE(listener.said.size(), whole.said.size());
      EXPECT_GE(result.value().intact_chunk_count + 1, chunks);
    }
  }
}

// A few kilobytes that would expand to gigabytes.
TEST(McapCompression, RefusesExcessiveExpansion) {
  const Bytes zeros(64u << 20, 0);
  const Bytes packed = compressed("zstd", zeros);
  ASSERT_LT(packed.size(), 10'000u);
  const auto file_of = [&](int chunks, std::uint64_t size) {
    Bytes file(kMcapMagic.begin(), kMcapMagic.end());
    for (int k = 0; k < chunks; ++k) append_record(file, McapChunk{0, 0, size, 0, "zstd", packed});
    return file;
  };
  Listener listener;
  const Error large = require_error(scan(file_of(1, (64u << 20) + 1), listener));
  EXPECT_NE(large.detail.find("64 MiB"), std::string::npos) << large.detail;
  const Error many = require_error(scan(file_of(60, 64u << 20), listener));
  EXPECT_NE(many.detail.find("256 times"), std::string::npos) << many.detail;
  EXPECT_TRUE(scan(file_of(3, 64u << 20), listener).ok());
}

TEST(McapCompression, OfOtherKindsIsRefusedWithARemedy) {
  Bytes file(kMcapMagic.begin(), kMcapMagic.end());
  append_record(file, McapChunk{0, 0, 3, 0, "brotli", Bytes{1, 2, 3}});
  Listener listener;
  const Error result = require_error(scan(file, listener));
  EXPECT_EQ(result.code, ErrorCode::kUnsupported);
  expect_parts(result.detail, {"\"brotli\"", "mcap filter"});
}

}  // namespace
}  // namespace proto
