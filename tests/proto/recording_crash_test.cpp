#include <gtest/gtest.h>

#include <random>

#include "proto/recording/mcap/mcap_recover.hpp"
#include "proto/recording/recording_reader.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/support/memory_input_file.hpp"

namespace proto {
namespace {

using namespace test_support;
using test_support::Bytes;

constexpr std::uint64_t kSampleCount = 200;
constexpr double kPeriod = 0.0125;  // [s]: 20 samples in a chunk of 250 ms
constexpr std::uint64_t kSamplesPerChunk = 20;

// A run with every kind of record, small enough to be cut at each of its bytes.
Bytes record_run() {
  const auto disk = std::make_shared<Disk>();
  auto writer =
      require(RecordingWriter::create(std::make_unique<MemoryOutputFile>(disk), furuta_header()));
  EXPECT_TRUE(ok(writer.attach({"plan.csv", "text/csv", {'t', ',', 'u', '\n'}})));
  for (std::uint64_t k = 0; k < kSampleCount; ++k) {
    if (k == 60) {
      EXPECT_TRUE(ok(writer.write(ClockFit{.timestamp_s = 0.75, .rate_error_ppm = 31.0})));
    }
    EXPECT_TRUE(ok(writer.write(make_sample(k, kPeriod))));
  }
  EXPECT_TRUE(ok(writer.finish()));
  return disk->content;
}

// Ends of the chunk records in an intact file, found from the opcodes alone.
std::vector<std::size_t> chunk_ends(const Bytes& file) {
  std::vector<std::size_t> ends;
  for (std::size_t at = 8; at + 9 <= file.size();) {
    std::uint64_t size = 0;
    for (unsigned k = 0; k < 8; ++k) size |= std::uint64_t{file[at + 1 + k]} << (8 * k);
    at += 9 + size;
    if (file[at - 9 - size] == 0x06) ends.push_back(at);
    if (file[at - 9 - size] == 0x02) break;  // footer
  }
  return ends;
}

Result<Recording> read(std::span<const std::uint8_t> bytes) {
  return read_recording(*view_as_input_file(bytes));
}

// A crash at any time costs at most the last chunk, and every sample that is read equals the
// recorded one. Catches summaries written before their data, chunks that depend on later data, and
// readers that trust a length.
TEST(Recording, CutAtEveryByteLosesAtMostOneChunkAndMisreadsNothing) {
  const Bytes file = record_run();
  const std::vector<std::size_t> ends = chunk_ends(file);
  ASSERT_EQ(ends.size(), kSampleCount / kSamplesPerChunk);
  const std::size_t header_end = 8 + 9 + file[9];  // magic, then the header record
  std::size_t unreadable_cuts = 0;
  for (std::size_t size = 0; size <= file.size(); ++size) {
    const auto recording = read(std::span(file).first(size));
    std::size_t complete_chunks = 0;
    while (complete_chunks < ends.size() && ends[complete_chunks] <= size) ++complete_chunks;
    if (!recording.ok()) {
      // Allowed only before the run's facts are on disk, when there is no sample to lose.
      ASSERT_EQ(complete_chunks, 0u) << "cut at " << size << ": " << recording.error().detail;
      ++unreadable_cuts;
      continue;
    }
    const std::vector<Sample>& samples = recording.value().samples;
    ASSERT_EQ(samples.size(), complete_chunks * kSamplesPerChunk) << "cut at " << size;
    for (std::uint64_t k = 0; k < samples.size(); ++k) {
      ASSERT_TRUE(same(samples[k], make_sample(k, kPeriod))) << "cut at " << size;
    }
    ASSERT_EQ(recording.value().scan.container.finished, size == file.size()) << "cut at " << size;
    ASSERT_TRUE(recording.value().gaps.empty());
  }
  EXPECT_GT(unreadable_cuts, header_end);
  EXPECT_LT(unreadable_cuts, ends[0] / 2);
}

// A recovered cut file must be a finished recording with the same content. Tested at some hundred
// positions, ends of records included, because each writes files.
TEST(Recording, CutAnywhereIsRecoveredToAFinishedRecording) {
  const Bytes file = record_run();
  const std::vector<std::size_t> ends = chunk_ends(file);
  std::vector<std::size_t> cuts = ends;
  for (std::size_t size = ends[0]; size <= file.size(); size += 499) cuts.push_back(size);
  for (const std::size_t size : cuts) {
    SCOPED_TRACE(size);
    const test_support::TemporaryFolder folder;
    const std::string source = folder.file("run.mcap.part");
    write_bytes(source, std::span(file).first(size));
    const std::string destination = default_recovery_path(source);
    ASSERT_EQ(destination, folder.file("run.recovered.mcap"));
    require(recover_mcap(source, destination));
    EXPECT_EQ(folder.file_count(), 2u);  // the source and the recovered one, no .part
    EXPECT_EQ(read_bytes(source).size(), size);

    const auto before = read(std::span(file).first(size));
    const auto after = read_recording(destination);
    ASSERT_TRUE(ok(before));
    ASSERT_TRUE(ok(after));
    EXPECT_TRUE(after.value().scan.container.intact());
    EXPECT_EQ(after.value().header.facts, before.value().header.facts);
    EXPECT_EQ(after.value().clock_fits.size(), before.value().clock_fits.size());
    EXPECT_EQ(after.value().attachments.size(), 1u);
    ASSERT_EQ(after.value().samples.size(), before.value().samples.size());
    for (std::uint64_t k = 0; k < after.value().samples.size(); ++k) {
      ASSERT_TRUE(same(after.value().samples[k], make_sample(k, kPeriod)));
    }
  }
}

// After flipping any byte, everything read was recorded, at most one chunk is missing, and missing
// samples are listed. Catches a search for the next chunk that gives up or starts too late.
TEST(Recording, DamagedAtEveryByteLosesAtMostOneChunkAndMisreadsNothing) {
  Bytes file = record_run();
  const std::size_t data_end = chunk_ends(file).back();
  std::mt19937 random(5);
  std::size_t refused = 0;
  for (std::size_t at = 0; at < file.size(); ++at) {
    const std::uint8_t before = file[at];
    file[at] = static_cast<std::uint8_t>(before ^ (1 + random() % 255));
    const auto recording = read(file);
    file[at] = before;
    if (!recording.ok()) {
      // Allowed only in the magic, without which it is not an MCAP file.
      ASSERT_LT(at, 8u) << recording.error().detail;
      ++refused;
      continue;
    }
    const std::vector<Sample>& samples = recording.value().samples;
    for (const Sample& sample : samples) {
      ASSERT_LT(sample.sequence, kSampleCount) << "byte " << at;
      ASSERT_TRUE(same(sample, make_sample(sample.sequence, kPeriod))) << "byte " << at;
    }
    ASSERT_GE(samples.size(), kSampleCount - kSamplesPerChunk) << "byte " << at;
    ASSERT_FALSE(recording.value().scan.container.intact()) << "byte " << at << " went unnoticed";
    std::uint64_t listed = 0;
    for (const Gap& gap : recording.value().gaps) listed += gap.sample_count;
    // Samples missing before the first or after the last one read cannot be detected.
    const std::uint64_t visible = samples.back().sequence - samples.front().sequence + 1;
    ASSERT_EQ(samples.size() + listed, visible) << "byte " << at;
    if (at > data_end) {
      ASSERT_EQ(samples.size(), kSampleCount) << "byte " << at;
    }
  }
  EXPECT_EQ(refused, 8u);
}

}  // namespace
}  // namespace proto
