#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>

#include "proto/recording/mcap/file.hpp"
#include "proto/recording/mcap/mcap_reader.hpp"
#include "proto/recording/mcap/mcap_writer.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/support/memory_input_file.hpp"

// Order of the system calls when a recording is finished. This program's own functions override
// those of libc and log the calls while a test listens.
namespace {

std::atomic<bool> listening{false};
std::vector<std::string> calls;

void note(const char* call, const std::string& path) {
  if (!listening) return;
  calls.push_back(
      std::string(call).append(" ").append(std::filesystem::path(path).filename().string()));
}

std::string path_of(int file) {
  char path[4096] = {};
  const ssize_t size = ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, 4095);
  return std::string(path, size < 0 ? 0 : static_cast<std::size_t>(size));
}

int real_sync(const char* call, int file) {
  return reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, call))(file);
}

}  // namespace

extern "C" int fsync(int file) {
  note("fsync", path_of(file));
  return real_sync("fsync", file);
}

extern "C" int fdatasync(int file) {
  note("fdatasync", path_of(file));
  return real_sync("fdatasync", file);
}

extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned flags) noexcept {
  note("rename", from);
  using Call = int (*)(int, const char*, int, const char*, unsigned);
  return reinterpret_cast<Call>(::dlsym(RTLD_NEXT, "renameat2"))(from_folder, from, to_folder, to,
                                                                 flags);
}

namespace proto {
namespace {

using namespace test_support;
using test_support::TemporaryFolder;

// After a power cut no incomplete file may have its final name: sync the content first, then
// rename, then sync the folder.
TEST(RecordingFile, IsDurableBeforeItHasItsName) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("runs"));
  auto file = require(create_output_file(folder.file("runs/run.mcap")));
  const std::array<std::uint8_t, 3> bytes = {1, 2, 3};
  ASSERT_TRUE(ok(file->append(bytes)));
  calls.clear();
  listening = true;
  const Status published = file->publish();
  listening = false;
  ASSERT_TRUE(ok(published));
  EXPECT_EQ(calls, (std::vector<std::string>{"fdatasync run.mcap.part", "rename run.mcap.part",
                                             "fsync runs"}));
}

// The same for a file written by another program.
TEST(RecordingFile, OfAnotherWriterIsDurableBeforeItHasItsName) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("runs"));
  write_bytes(folder.file("runs/run.mcap.part"), std::vector<std::uint8_t>{1, 2, 3});
  calls.clear();
  listening = true;
  const Status published = publish_part_file(folder.file("runs/run.mcap"));
  listening = false;
  ASSERT_TRUE(ok(published));
  EXPECT_EQ(calls, (std::vector<std::string>{"fsync run.mcap.part", "rename run.mcap.part",
                                             "fsync runs"}));
}

// A complete writer has synced everything to the disk, including the end of the file.
TEST(McapWriter, IsCompleteWhenItIsDurable) {
  const auto disk = std::make_shared<Disk>();
  McapWriter writer(std::make_unique<MemoryOutputFile>(disk), {});
  ASSERT_TRUE(ok(writer.start()));
  const int before = disk->sync_count;
  ASSERT_TRUE(ok(writer.complete()));
  EXPECT_GT(disk->sync_count, before);
}

class MessageCounter final : public McapVisitor {
 public:
  bool on_message(const McapChannel&, const McapSchema*, const McapMessage&) override {
    ++count;
    return true;
  }
  int count = 0;
};

// A checksum of zero would mean that there is none.
TEST(McapWriter, WritesChunkChecksums) {
  for (const bool damaged : {false, true}) {
    const auto disk = std::make_shared<Disk>();
    McapWriter writer(std::make_unique<MemoryOutputFile>(disk), {});
    ASSERT_TRUE(ok(writer.start()));
    const std::uint16_t channel = writer.add_channel("/t", "raw", "", "", {});
    const test_support::Bytes data(100, 7);
    ASSERT_TRUE(ok(writer.write_message({channel, 0, 5, 5, data})));
    ASSERT_TRUE(ok(writer.complete()));
    const auto place =
        std::search(disk->content.begin(), disk->content.end(), data.begin(), data.end());
    ASSERT_NE(place, disk->content.end());
    if (damaged) place[50] = 8;
    MessageCounter counter;
    const auto scan = require(scan_mcap(*view_as_input_file(disk->content), counter));
    EXPECT_EQ(counter.count, damaged ? 0 : 1);
    EXPECT_EQ(scan.damaged_chunk_count, damaged ? 1U : 0U);
  }
}

}  // namespace
}  // namespace proto
