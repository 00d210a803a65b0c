#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "proto/recording/mcap/byte_cursor.hpp"
#include "proto/recording/mcap/mcap_format.hpp"
#include "proto/recording/mcap/mcap_writer.hpp"
#include "tests/proto/recording_support.hpp"

// The summary, which other programs read first, checked byte by byte against https://mcap.dev/spec.
// Our own reader scans the whole file and would not notice an error.

namespace proto {
namespace {

using namespace test_support;

// Reads little-endian numbers from a position in the file.
class Cursor {
 public:
  Cursor(const Bytes& file, std::uint64_t at) : file_(file), at_(at) {}
  template <typename Number>
  Number take() {
    Number value{};
    EXPECT_LE(at_ + sizeof value, file_.size());
    if (at_ + sizeof value <= file_.size()) std::memcpy(&value, &file_[at_], sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string text() {
    const auto size = take<std::uint32_t>();
    const std::string value(file_.begin() + static_cast<std::ptrdiff_t>(at_),
                            file_.begin() + static_cast<std::ptrdiff_t>(at_ + size));
    at_ += size;
    return value;
  }
  /// Pairs of numbers after their total size in bytes.
  template <typename Key>
  std::vector<std::pair<Key, std::uint64_t>> pairs() {
    const std::uint64_t end = take<std::uint32_t>() + at_;
    std::vector<std::pair<Key, std::uint64_t>> list;
    while (at_ < end) {
      const Key key = take<Key>();
      list.emplace_back(key, take<std::uint64_t>());
    }
    return list;
  }
  std::uint64_t at() const { return at_; }

 private:
  const Bytes& file_;
  std::uint64_t at_;
};

struct Record {
  std::uint8_t opcode;
  std::uint64_t at;       // of the opcode
  std::uint64_t content;  // of the first byte after the length
  std::uint64_t end;
};

std::vector<Record> records_between(const Bytes& file, std::uint64_t begin, std::uint64_t end) {
  std::vector<Record> records;
  while (begin < end) {
    Cursor cursor(file, begin);
    Record record{cursor.take<std::uint8_t>(), begin, 0, 0};
    const auto size = cursor.take<std::uint64_t>();
    record.content = cursor.at();
    record.end = cursor.at() + size;
    records.push_back(record);
    begin = record.end;
  }
  EXPECT_EQ(begin, end);
  return records;
}

// Two channels, one present from the start and one added later. Chunks of two messages. Times that
// go back within a chunk and between two.
class McapSummary : public ::testing::Test {
 protected:
  McapSummary() {
    McapWriterOptions options;
    options.chunk_duration_ns = ~std::uint64_t{0};
    McapWriter writer(std::make_unique<MemoryOutputFile>(disk_), options);
    EXPECT_TRUE(ok(writer.start()));
    first_ = writer.add_channel("/a", "protobuf", "A", "protobuf", as_bytes("schema a"), {});
    write(writer, first_, 50);
    write(writer, first_, 40);
    EXPECT_TRUE(ok(writer.flush()));
    second_ = writer.add_channel("/b", "protobuf", "B", "protobuf", as_bytes("schema b"), {});
    write(writer, second_, 90);
    write(writer, first_, 20);
    write(writer, second_, 80);
    EXPECT_TRUE(ok(writer.flush()));
    EXPECT_TRUE(ok(writer.write_metadata({"facts", {{"key", "value"}}})));
    McapAttachment attachment;
    attachment.name = "plan.svg";
    attachment.data = {1, 2, 3};
    EXPECT_TRUE(ok(writer.write_attachment(attachment)));
    write(writer, first_, 30);
    EXPECT_TRUE(ok(writer.complete()));
    file_ = disk_->content;

    const std::uint64_t footer = file_.size() - kMcapMagic.size() - 29;
    Cursor cursor(file_, footer);
    EXPECT_EQ(cursor.take<std::uint8_t>(), 0x02);
    EXPECT_EQ(cursor.take<std::uint64_t>(), 20u);
    summary_at_ = cursor.take<std::uint64_t>();
    offsets_at_ = cursor.take<std::uint64_t>();
    summary_crc_ = cursor.take<std::uint32_t>();
    footer_at_ = footer;
    data_ = records_between(file_, kMcapMagic.size(), summary_at_);
    summary_ = records_between(file_, summary_at_, offsets_at_);
    offsets_ = records_between(file_, offsets_at_, footer);
  }

  static void write(McapWriter& writer, std::uint16_t channel, std::uint64_t time_ns) {
    const std::string data = "message at " + std::to_string(time_ns);
    EXPECT_TRUE(ok(writer.write_message({channel, 0, time_ns, time_ns, as_bytes(data)})));
  }
  static std::vector<Record> of(const std::vector<Record>& records, std::uint8_t opcode) {
    std::vector<Record> found;
    for (const Record& record : records) {
      if (record.opcode == opcode) found.push_back(record);
    }
    return found;
  }

  std::shared_ptr<Disk> disk_ = std::make_shared<Disk>();
  Bytes file_;
  std::uint16_t first_ = 0, second_ = 0;
  std::uint64_t summary_at_ = 0, offsets_at_ = 0, footer_at_ = 0;
  std::uint32_t summary_crc_ = 0;
  std::vector<Record> data_, summary_, offsets_;
};

TEST_F(McapSummary, CountsTheContentOfTheFile) {
  const auto statistics = of(summary_, 0x0B);
  ASSERT_EQ(statistics.size(), 1u);
  Cursor cursor(file_, statistics[0].content);
  EXPECT_EQ(cursor.take<std::uint64_t>(), 6u) << "messages";
  EXPECT_EQ(cursor.take<std::uint16_t>(), 2u) << "schemas";
  EXPECT_EQ(cursor.take<std::uint32_t>(), 2u) << "channels";
  EXPECT_EQ(cursor.take<std::uint32_t>(), 1u) << "attachments";
  EXPECT_EQ(cursor.take<std::uint32_t>(), 1u) << "metadata";
  EXPECT_EQ(cursor.take<std::uint32_t>(), 3u) << "chunks";
  EXPECT_EQ(cursor.take<std::uint64_t>(), 20u) << "the earliest message of all";
  EXPECT_EQ(cursor.take<std::uint64_t>(), 90u) << "the latest";
  const auto counts = cursor.pairs<std::uint16_t>();
  EXPECT_EQ(counts,
            (std::vector<std::pair<std::uint16_t, std::uint64_t>>{{first_, 4}, {second_, 2}}));
  EXPECT_EQ(of(summary_, 0x03).size(), 2u) << "both schemas stand in the summary";
  EXPECT_EQ(of(summary_, 0x04).size(), 2u) << "and both channels";
}

// From the index to the chunk, from there to each message, and its time must agree.
TEST_F(McapSummary, LeadsToEveryMessage) {
  const auto chunks = of(data_, 0x06);
  const auto indexes = of(summary_, 0x08);
  ASSERT_EQ(chunks.size(), 3u);
  ASSERT_EQ(indexes.size(), 3u);
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> times = {{40, 50}, {20, 90}, {30, 30}};
  std::vector<std::uint64_t> found;
  for (std::size_t k = 0; k < 3; ++k) {
    SCOPED_TRACE(k);
    Cursor index(file_, indexes[k].content);
    EXPECT_EQ(index.take<std::uint64_t>(), times[k].first);
    EXPECT_EQ(index.take<std::uint64_t>(), times[k].second);
    EXPECT_EQ(index.take<std::uint64_t>(), chunks[k].at);
    EXPECT_EQ(index.take<std::uint64_t>(), chunks[k].end - chunks[k].at);
    const auto of_channels = index.pairs<std::uint16_t>();
    const auto index_size = index.take<std::uint64_t>();
    EXPECT_EQ(index.text(), "") << "compression";
    const auto compressed = index.take<std::uint64_t>();
    const auto uncompressed = index.take<std::uint64_t>();

    Cursor chunk(file_, chunks[k].content);
    EXPECT_EQ(chunk.take<std::uint64_t>(), times[k].first);
    EXPECT_EQ(chunk.take<std::uint64_t>(), times[k].second);
    EXPECT_EQ(chunk.take<std::uint64_t>(), uncompressed);
    const auto crc = chunk.take<std::uint32_t>();
    EXPECT_EQ(chunk.text(), "");
    EXPECT_EQ(chunk.take<std::uint64_t>(), compressed);
    const std::uint64_t records = chunk.at();
    EXPECT_EQ(crc, crc32(std::span(file_).subspan(records, compressed)));
    EXPECT_EQ(records + compressed, chunks[k].end);

    std::uint64_t size = 0;
    for (const auto& [channel, offset] : of_channels) {
      Cursor message_index(file_, offset);
      ASSERT_EQ(message_index.take<std::uint8_t>(), 0x07);
      size += 9 + message_index.take<std::uint64_t>();
      EXPECT_EQ(message_index.take<std::uint16_t>(), channel);
      for (const auto& [time_ns, at] : message_index.pairs<std::uint64_t>()) {
        Cursor message(file_, records + at);
        ASSERT_EQ(message.take<std::uint8_t>(), 0x05);
        message.take<std::uint64_t>();
        EXPECT_EQ(message.take<std::uint16_t>(), channel);
        message.take<std::uint32_t>();
        EXPECT_EQ(message.take<std::uint64_t>(), time_ns);
        found.push_back(time_ns);
      }
    }
    EXPECT_EQ(index_size, size);
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<std::uint64_t>{20, 30, 40, 50, 80, 90}));
}

TEST_F(McapSummary, LeadsToMetadataAndAttachments) {
  for (const auto& [in_data, in_summary, name] :
       {std::tuple{0x0C, 0x0D, "facts"}, std::tuple{0x09, 0x0A, "plan.svg"}}) {
    const auto records = of(data_, static_cast<std::uint8_t>(in_data));
    const auto indexes = of(summary_, static_cast<std::uint8_t>(in_summary));
    ASSERT_EQ(records.size(), 1u);
    ASSERT_EQ(indexes.size(), 1u);
    Cursor cursor(file_, indexes[0].content);
    EXPECT_EQ(cursor.take<std::uint64_t>(), records[0].at);
    EXPECT_EQ(cursor.take<std::uint64_t>(), records[0].end - records[0].at);
    const std::string content(file_.begin() + static_cast<std::ptrdiff_t>(indexes[0].content),
                              file_.begin() + static_cast<std::ptrdiff_t>(indexes[0].end));
    EXPECT_NE(content.find(name), std::string::npos);
  }
}

// Position and length of each group of the summary, and the checksums of both parts.
TEST_F(McapSummary, IsFoundAndProtected) {
  std::map<std::uint8_t, std::pair<std::uint64_t, std::uint64_t>> groups;
  for (const Record& record : summary_) {
    auto& [begin, size] = groups.try_emplace(record.opcode, record.at, 0).first->second;
    EXPECT_EQ(record.at, begin + size) << "a group lies in one piece";
    size += record.end - record.at;
  }
  ASSERT_EQ(offsets_.size(), groups.size());
  for (const Record& record : offsets_) {
    EXPECT_EQ(record.opcode, 0x0E);
    Cursor cursor(file_, record.content);
    const auto group = groups.at(cursor.take<std::uint8_t>());
    EXPECT_EQ(cursor.take<std::uint64_t>(), group.first);
    EXPECT_EQ(cursor.take<std::uint64_t>(), group.second);
  }
  ASSERT_EQ(data_.back().opcode, 0x0F);
  EXPECT_EQ(Cursor(file_, data_.back().content).take<std::uint32_t>(),
            crc32(std::span(file_).first(data_.back().at)));
  EXPECT_EQ(summary_crc_,
            crc32(std::span(file_).subspan(summary_at_, footer_at_ + 25 - summary_at_)));
}

}  // namespace
}  // namespace proto
