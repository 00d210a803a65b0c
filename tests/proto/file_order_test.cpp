#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "proto/recording/file.hpp"
#include "proto/recording/mcap_writer.hpp"
#include "tests/proto/recording_support.hpp"

// What the kernel is asked for when a recording is finished, in order. This program's own calls
// stand before libc's; they are noted while a test listens.
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

using test_support::ok;
using test_support::TemporaryFolder;

// A power cut must not leave a finished name on a file that is not: the content first, then the
// name, then the folder that holds it.
TEST(RecordingFile, IsDurableBeforeItHasItsName) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("runs"));
  auto file = create_output_file(folder.file("runs/run.mcap"));
  ASSERT_TRUE(ok(file));
  const std::array<std::uint8_t, 3> bytes = {1, 2, 3};
  ASSERT_TRUE(ok(file.value()->append(bytes)));
  calls.clear();
  listening = true;
  const Status published = file.value()->publish();
  listening = false;
  ASSERT_TRUE(ok(published));
  EXPECT_EQ(calls, (std::vector<std::string>{"fdatasync run.mcap.part", "rename run.mcap.part",
                                             "fsync runs"}));
}

// The same for a file that somebody else has written.
TEST(RecordingFile, OfAnotherWriterIsDurableBeforeItHasItsName) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("runs"));
  test_support::write_bytes(folder.file("runs/run.mcap.part"), std::vector<std::uint8_t>{1, 2, 3});
  calls.clear();
  listening = true;
  const Status published = publish_part(folder.file("runs/run.mcap"));
  listening = false;
  ASSERT_TRUE(ok(published));
  EXPECT_EQ(calls, (std::vector<std::string>{"fsync run.mcap.part", "rename run.mcap.part",
                                             "fsync runs"}));
}

// A writer that is complete has handed everything to the disk, its ending too.
TEST(McapWriter, IsCompleteWhenItIsDurable) {
  const auto disk = std::make_shared<test_support::Disk>();
  McapWriter writer(std::make_unique<test_support::MemoryOutputFile>(disk), {});
  ASSERT_TRUE(ok(writer.start()));
  const int before = disk->sync_count;
  ASSERT_TRUE(ok(writer.complete()));
  EXPECT_GT(disk->sync_count, before);
}

}  // namespace
}  // namespace proto
