#include "proto/recording/recording_reader.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "proto/recording/convert.hpp"
#include "proto/recording/mcap/byte_cursor.hpp"
#include "proto/recording/mcap/mcap_format.hpp"
#include "proto/recording/mcap/mcap_recover.hpp"
#include "proto/recording/mcap/mcap_writer.hpp"
#include "proto/recording/recording_recover.hpp"
#include "proto/recording/recording_writer.hpp"
#include "proto/recording/topics.hpp"
#include "tests/proto/mcap_repair.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/proto/unchecked_recording.hpp"
#include "tests/support/memory_input_file.hpp"

namespace proto {
namespace {

using namespace test_support;
using test_support::TemporaryFolder;

class CountingVisitor final : public McapVisitor {
 public:
  bool on_message(const McapChannel& channel, const McapSchema*, const McapMessage&) override {
    topics.push_back(channel.topic);
    return topics.size() < message_count_max;
  }
  bool on_attachment(const McapAttachment&) override {
    ++attachment_count;
    return true;
  }

  std::vector<std::string> topics;
  std::size_t message_count_max = 1'000'000;
  int attachment_count = 0;
};

Bytes start_file() {
  Bytes file(kMcapMagic.begin(), kMcapMagic.end());
  append_record(file, McapHeader{"", "somebody else"});
  return file;
}

// A chunk with one channel and one message, with a correct checksum.
Bytes chunk_records(std::uint16_t declared_channel, std::uint16_t message_channel,
                    std::uint64_t time_ns = 5) {
  Bytes records;
  append_record(records, McapChannel{declared_channel, 0, "/t", "raw", {}});
  append_record(records, McapMessage{message_channel, 0, time_ns, time_ns, {}});
  return records;
}

void put_chunk(Bytes& file, const Bytes& records) {
  append_record(file, McapChunk{5, 5, records.size(), crc32(records), "", records});
}

void put_length(Bytes& file, McapOpcode opcode, std::uint64_t length) {
  put(file, static_cast<std::uint8_t>(opcode));
  put(file, length);
}

Result<McapScan> scan(const Bytes& file, McapVisitor& visitor) {
  return scan_mcap(*view_as_input_file(file), visitor);
}

// Searching 10 GB of zeros for a chunk takes a minute.
TEST(ScanMcap, SkipsHolesOfSparseFiles) {
  constexpr std::uintmax_t kHoleEnd = std::uintmax_t{10} << 30;
  const TemporaryFolder folder;
  const std::string path = folder.file("sparse.mcap");
  const Bytes begin = start_file();
  Bytes end;
  put_chunk(end, chunk_records(1, 1));
  const auto append = [&](const Bytes& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::app)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  };
  append(begin);
  std::filesystem::resize_file(path, kHoleEnd);
  append(end);
  const auto file = require(open_input_file(path));
  EXPECT_EQ(file->skip_hole(0), 0U);
  EXPECT_EQ(file->skip_hole(kHoleEnd), kHoleEnd);
  CountingVisitor visitor;
  const McapScan found = require(scan_mcap(*file, visitor));
  EXPECT_EQ(found.message_count, 1U);
  EXPECT_EQ(found.skipped_bytes, kHoleEnd - begin.size());
}

// A recording from before several motors were supported: one double per sample, nothing for zero,
// and the motor among the facts.
TEST(ReadRecording, ReadsOlderRecordings) {
  const auto disk = std::make_shared<Disk>();
  McapWriter writer(std::make_unique<MemoryOutputFile>(disk), {});
  ASSERT_TRUE(ok(writer.start()));
  const McapMap header = {{std::string(kFormatKey), std::string(kFormatVersion)},
                          {std::string(kEpochKey), "0"},
                          {std::string(kJointsKey), "arm,pendulum"},
                          {"motor", "arm"},
                          {"command_unit", "A"},
                          {"rig", "furuta"}};
  const std::uint16_t channel = writer.add_channel(std::string(kSampleTopic.name), "protobuf",
                                                   std::string(kSampleTopic.message_type),
                                                   "protobuf", as_bytes("schema"), header);
  for (std::uint64_t k = 0; k < 3; ++k) {
    rigcal::v1::Sample message;
    to_message(make_sample(k), message);
    message.clear_command();
    std::string bytes = message.SerializeAsString();
    const double command_V = 0.5 * static_cast<double>(k);
    if (k > 0) bytes.append("\x39").append(reinterpret_cast<const char*>(&command_V), 8);
    ASSERT_TRUE(ok(writer.write_message({channel, 0, 0, 0, as_bytes(bytes)})));
  }
  ASSERT_TRUE(ok(writer.complete()));
  const auto recording = require(read_recording(*view_as_input_file(disk->content)));
  EXPECT_EQ(recording.scan.unreadable_count, 0U);
  ASSERT_EQ(recording.samples.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(recording.samples[k].motor_count, 1U);
    EXPECT_EQ(recording.samples[k].command[0], 0.5 * static_cast<double>(k));
  }
  const RecordingHeader& read = recording.header;
  EXPECT_EQ(read.motors, std::vector<std::string>{"arm"});
  EXPECT_EQ(read.command_units, std::vector<std::string>{"A"});
  EXPECT_EQ(read.facts, (McapMap{{"rig", "furuta"}}));
}

Bytes record_samples(const std::vector<std::uint64_t>& sequences, const std::vector<Gap>& gaps) {
  const auto disk = std::make_shared<Disk>();
  auto writer = RecordingWriter::create(std::make_unique<MemoryOutputFile>(disk), furuta_header());
  for (const std::uint64_t k : sequences) EXPECT_TRUE(ok(writer.value().write(make_sample(k))));
  for (const Gap& gap : gaps) EXPECT_TRUE(ok(writer.value().write(gap)));
  EXPECT_TRUE(ok(writer.value().finish()));
  return disk->content;
}

// CRC-32 of "123456789" is the published check value.
TEST(Crc32, MatchesThePublishedCheckValue) {
  EXPECT_EQ(crc32(as_bytes("123456789")), 0xCBF43926u);
  EXPECT_EQ(crc32(as_bytes("6789"), crc32(as_bytes("12345"))), 0xCBF43926u);
}

// A length may be wrong. Catches an allocation before it is compared with the file's size, and
// arithmetic overflow.
TEST(ScanMcap, DoesNotTrustLengths) {
  for (const std::uint64_t length :
       {std::uint64_t{1} << 32, ~std::uint64_t{0}, ~std::uint64_t{8}}) {
    for (std::uint8_t opcode = 0; opcode < 0x14; ++opcode) {
      Bytes file = start_file();
      put_length(file, static_cast<McapOpcode>(opcode), length);
      append_bytes(file, Bytes(100, 1));
      CountingVisitor visitor;
      const auto result = require(scan(file, visitor));
      EXPECT_FALSE(result.finished);
      EXPECT_FALSE(result.problems.empty());
    }
  }
  // Lengths inside a record: a chunk whose records claim more bytes than the chunk has.
  Bytes file = start_file();
  Bytes chunk(28, 0);
  put(chunk, std::uint32_t{0});
  put(chunk, ~std::uint64_t{0});
  put_length(file, McapOpcode::kChunk, chunk.size());
  append_bytes(file, chunk);
  CountingVisitor visitor;
  EXPECT_EQ(scan(file, visitor).value().damaged_chunk_count, 1u);
}

// A correct checksum proves that bytes were not altered, not that they are valid.
TEST(ScanMcap, RejectsChunksWithAnInvalidRecord) {
  Bytes file = start_file();
  Bytes undeclared = chunk_records(1, 1);
  append_bytes(undeclared, chunk_records(2, 3));
  put_chunk(file, undeclared);              // second message on an undeclared channel
  put_chunk(file, chunk_records(1, 1, 9));  // outside the chunk's time range
  Bytes nested = chunk_records(1, 1);
  put_chunk(nested, chunk_records(1, 1));
  put_chunk(file, nested);               // a chunk within a chunk
  put_chunk(file, chunk_records(4, 4));  // valid
  CountingVisitor visitor;
  const auto result = require(scan(file, visitor));
  EXPECT_EQ(visitor.topics.size(), 1u);
  EXPECT_EQ(result.damaged_chunk_count, 3u);
  EXPECT_EQ(result.intact_chunk_count, 1u);
}

TEST(ScanMcap, EndsWhenTheVisitorHasEnough) {
  Bytes file = start_file();
  for (int k = 0; k < 5; ++k) put_chunk(file, chunk_records(1, 1));
  CountingVisitor visitor;
  visitor.message_count_max = 2;
  ASSERT_TRUE(ok(scan(file, visitor)));
  EXPECT_EQ(visitor.topics.size(), 2u);
}

TEST(ScanMcap, RefusesOtherFiles) {
  CountingVisitor visitor;
  for (const Bytes& file :
       {Bytes{}, Bytes(100, 0), Bytes(kMcapMagic.begin(), kMcapMagic.end() - 1)}) {
    EXPECT_EQ(require_error(scan(file, visitor)).code, ErrorCode::kDamaged);
  }
}

// Messages outside chunks have no checksum, and one flipped bit turns an index into a message.
TEST(ScanMcap, DoesNotReadMessagesOutsideChunks) {
  Bytes file = start_file();
  append_record(file, McapChannel{1, 0, "/t", "raw", {}});
  append_record(file, McapMessage{1, 0, 5, 5, {}});
  CountingVisitor visitor;
  const auto result = require(scan(file, visitor));
  EXPECT_TRUE(visitor.topics.empty());
  EXPECT_FALSE(result.problems.empty());
}

// An attachment may itself be a recording. If the file ends within it, the search for the next
// chunk must not take its messages for the file's own. If a length before the file's own chunks is
// damaged, the search must find those.
TEST(ScanMcap, KeepsAnAttachedRecordingApart) {
  Bytes inner = start_file();
  put_chunk(inner, chunk_records(1, 1));
  put_chunk(inner, chunk_records(1, 1));
  Bytes file = start_file();
  append_record(file, McapAttachment{0, 0, "earlier.mcap", "application/mcap", inner});
  for (std::size_t size = file.size() - inner.size(); size < file.size(); ++size) {
    CountingVisitor visitor;
    ASSERT_TRUE(
        ok(scan(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)), visitor)));
    ASSERT_TRUE(visitor.topics.empty()) << "cut at " << size;
  }
  Bytes damaged = start_file();
  const std::size_t length_at = damaged.size() + 1;
  append_record(damaged, McapAttachment{0, 0, "plan.csv", "text/csv", Bytes(50, 'x')});
  put_chunk(damaged, chunk_records(1, 1));
  damaged[length_at + 5] = 1;  // a length of a terabyte
  CountingVisitor visitor;
  require(scan(damaged, visitor));
  EXPECT_EQ(visitor.topics.size(), 1u);
  EXPECT_EQ(visitor.attachment_count, 0);
}

// Many places that look like a large chunk must not make the search quadratic. The test's time-out
// detects it: 30 000 candidates of 1 MiB each would be 30 GB to check.
TEST(ScanMcap, SearchesInLinearTime) {
  Bytes file = start_file();
  put_length(file, McapOpcode::kHeader, ~std::uint64_t{0});
  Bytes candidate;
  put_length(candidate, McapOpcode::kChunk, (1u << 20) + 40);
  append_bytes(candidate, Bytes(16, 0));
  put(candidate, std::uint64_t{1u << 20});
  put(candidate, std::uint32_t{1});
  put(candidate, std::uint32_t{0});
  put(candidate, std::uint64_t{1u << 20});
  for (int k = 0; k < 30'000; ++k) append_bytes(file, candidate);
  append_bytes(file, Bytes(1 << 20, 0));
  CountingVisitor visitor;
  const auto result = require(scan(file, visitor));
  EXPECT_EQ(result.message_count, 0u);
}

// Random damage in several places. In half of the cases the checksums are corrected, so that the
// damage reaches the code after them. Nothing may crash, and counts must add up.
TEST(ScanRecording, SurvivesDamageWithAValidChecksum) {
  std::vector<std::uint64_t> sequences(600);
  for (std::uint64_t k = 0; k < 600; ++k) sequences[k] = k;
  const Bytes good = record_samples(sequences, {});
  std::mt19937 random(23);
  std::uint64_t read = 0, refused = 0;
  for (int run = 0; run < 400; ++run) {
    Bytes file = good;
    for (unsigned k = 0; k <= random() % 20; ++k) {
      file[random() % file.size()] = static_cast<std::uint8_t>(random());
    }
    if (run % 2 == 0) repair_chunk_checksums(file);
    const auto recording = read_recording(*view_as_input_file(file));
    if (!recording.ok()) {
      ++refused;
      continue;
    }
    read += recording.value().samples.size();
    const auto& samples = recording.value().samples;
    for (std::size_t k = 1; k < samples.size(); ++k) {
      ASSERT_LT(samples[k - 1].sequence, samples[k].sequence);
    }
  }
  EXPECT_GT(read, 20'000u);
  EXPECT_LT(refused, 40u);
}

// Samples sent = recorded + listed, also if a gap message is missing, covers only a part of a hole,
// overlaps another or comes late.
TEST(ScanRecording, ListsGapsWithoutAGapMessage) {
  const auto recording = require(read_recording(
      *view_as_input_file(record_samples({0, 1, 10, 11, 30}, {{0.025, 25, 3, GapCause::kLink},
                                                              {0.002, 2, 4, GapCause::kLink},
                                                              {0.004, 4, 6, GapCause::kRingFull},
                                                              {0.015, 15, 5, GapCause::kLink},
                                                              {0.015, 15, 2, GapCause::kLink}}))));
  std::vector<std::pair<std::uint64_t, std::uint64_t>> unlisted;
  for (const Gap& gap : recording.gaps) {
    if (gap.cause != GapCause::kNotListed) continue;
    unlisted.emplace_back(gap.first_sequence, gap.sample_count);
  }
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected = {{12, 3}, {20, 5}, {28, 2}};
  EXPECT_EQ(unlisted, expected);
}

// A sample that occurs twice in the file is read once.
TEST(ScanRecording, ReadsNoSampleTwice) {
  const Bytes file = record_unchecked(
      {make_sample(0), make_sample(1), make_sample(1), make_sample(0), make_sample(2)});
  const auto recording = require(read_recording(*view_as_input_file(file)));
  ASSERT_EQ(recording.samples.size(), 3u);
  EXPECT_EQ(recording.scan.unreadable_count, 2u);
}

// The reader rejects the same entries as the writer, whoever has written them, and keeps the
// others.
TEST(ScanRecording, DeliversWhatTheRulesAllow) {
  std::vector<Sample> wrong(7, make_sample(2));
  wrong[0].timestamp_s = -0.5e-3;  // time goes back
  wrong[1].angle_rad[0] = std::numeric_limits<double>::quiet_NaN();
  wrong[2].command[0] = std::numeric_limits<double>::infinity();
  wrong[3].channel_count = 1;
  wrong[4].device_time_us = std::numeric_limits<std::int64_t>::min();
  wrong[5].angle_rad[1] = -1.1e12;
  wrong[6].command[0] = 1.1e6;
  for (const Sample& sample : wrong) {
    const Bytes file = record_unchecked({make_sample(0), sample, make_sample(3)});
    const auto recording = require(read_recording(*view_as_input_file(file)));
    EXPECT_EQ(recording.samples.size(), 2u);
    EXPECT_EQ(recording.scan.unreadable_count, 1u);
    EXPECT_EQ(recording.scan.first_violation.substr(0, 8), "sample 2");
    const auto check = require(check_recording(*view_as_input_file(file)));
    EXPECT_EQ(check.sample_count, 2u);
    EXPECT_EQ(check.unreadable_count, 1u);

    auto writer = RecordingWriter::create(
        std::make_unique<MemoryOutputFile>(std::make_shared<Disk>()), furuta_header());
    EXPECT_TRUE(ok(writer.value().write(make_sample(0))));
    const Status refused = writer.value().write(sample);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
    EXPECT_TRUE(ok(writer.value().write(make_sample(3))));
    EXPECT_EQ(writer.value().sample_count(), 2u);
  }
}

TEST(ScanRecording, RefusesAnMcapFileOfAnotherProgram) {
  Bytes file = start_file();
  put_chunk(file, chunk_records(1, 1));
  EXPECT_EQ(require_error(read_recording(*view_as_input_file(file))).code, ErrorCode::kDamaged);
}

TEST(RecoverMcap, WritesNoFileIfNothingIsIntact) {
  const TemporaryFolder folder;
  const Bytes file = start_file();
  write_bytes(folder.file("run.mcap.part"), file);
  EXPECT_EQ(
      require_error(recover_mcap(folder.file("run.mcap.part"), folder.file("whole.mcap"))).code,
      ErrorCode::kDamaged);
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(RecoverMcap, DoesNotOverwriteAFile) {
  const TemporaryFolder folder;
  write_bytes(folder.file("run.mcap"), record_samples({0, 1}, {}));
  write_bytes(folder.file("whole.mcap"), Bytes{'x'});
  EXPECT_EQ(require_error(recover_mcap(folder.file("run.mcap"), folder.file("whole.mcap"))).code,
            ErrorCode::kExists);
  EXPECT_EQ(read_bytes(folder.file("whole.mcap")).size(), 1u);
}

// A killed run could not record its end. The recovered file states it, as a trip exactly if the
// unit was driving. A finished file gets no such entry.
TEST(RecoverRecording, RecordsHowAnUnfinishedRunEnded) {
  for (const bool driving : {true, false}) {
    const TemporaryFolder folder;
    {
      auto writer = require(RecordingWriter::create(
          folder.file("run.mcap"),
          {.joints = {"a"}, .epoch_unix_ns = 1'000'000'000, .facts = {{"ttl_ms", "20"}}}));
      ASSERT_TRUE(ok(writer.write(Event{.name = "running"})));
      for (std::uint64_t k = 0; k < 300; ++k) {
        Sample sample;
        sample.timestamp_s = 1e-3 * static_cast<double>(k);
        sample.sequence = k;
        sample.channel_count = 1;
        sample.driving = driving;
        ASSERT_TRUE(ok(writer.write(sample)));
      }
      ASSERT_TRUE(ok(writer.flush()));
    }
    ASSERT_TRUE(ok(recover_recording(folder.file("run.mcap.part"), folder.file("whole.mcap"))));
    const auto whole = require(read_recording(folder.file("whole.mcap")));
    EXPECT_TRUE(whole.scan.container.intact());
    EXPECT_EQ(whole.samples.size(), 300u);
    ASSERT_EQ(whole.events.size(), 2u);
    const Event& event = whole.events.back();
    EXPECT_EQ(event.name, kInterruptedEvent);
    EXPECT_EQ(event.kind == EventKind::kTrip, driving);
    EXPECT_EQ(event.text.find("20 ms") != std::string::npos, driving) << event.text;
    EXPECT_EQ(event.sequence, 299u);
    EXPECT_DOUBLE_EQ(event.timestamp_s, 0.299);

    ASSERT_TRUE(ok(recover_recording(folder.file("whole.mcap"), folder.file("again.mcap"))));
    EXPECT_EQ(read_recording(folder.file("again.mcap")).value().events.size(), 2u);
  }
}

// The tool accepts any MCAP file: unknown topics, schemas and metadata are copied unchanged, and
// the repair is recorded in the result.
TEST(RecoverMcap, KeepsUnknownTopics) {
  const TemporaryFolder folder;
  Bytes file = start_file();
  append_record(file, McapMetadata{"other", {{"a", "b"}}});
  put_chunk(file, chunk_records(7, 7));
  put_chunk(file, chunk_records(9, 9));
  file.back() ^= 1;  // the second chunk is damaged
  write_bytes(folder.file("run.mcap"), file);
  const auto recovery = require(recover_mcap(folder.file("run.mcap"), folder.file("whole.mcap")));
  EXPECT_EQ(recovery.source.damaged_chunk_count, 1u);
  struct : McapVisitor {
    bool on_message(const McapChannel& channel, const McapSchema* schema,
                    const McapMessage& message) override {
      EXPECT_EQ(channel.topic, "/t");
      EXPECT_EQ(channel.message_encoding, "raw");
      EXPECT_EQ(schema, nullptr);
      EXPECT_EQ(message.log_time_ns, 5u);
      return true;
    }
    bool on_metadata(const McapMetadata& metadata) override {
      names[metadata.name] = metadata.values;
      return true;
    }
    std::map<std::string, McapMap> names;
  } visitor;
  const auto result = require(scan(read_bytes(folder.file("whole.mcap")), visitor));
  EXPECT_TRUE(result.intact());
  EXPECT_EQ(result.message_count, 1u);
  EXPECT_EQ(visitor.names["other"].at("a"), "b");
  EXPECT_EQ(visitor.names["recovered"].at("damaged_chunks"), "1");
}

}  // namespace
}  // namespace proto
