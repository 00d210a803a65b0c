#include "service/server/storage/durable_file.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/proto/recording_support.hpp"

// Records the order of the system calls. This program's fsync and rename override libc's.
namespace {

std::vector<std::string> calls;

std::string name_of(int file) {
  char path[4096] = {};
  const ssize_t size = ::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, 4095);
  return std::filesystem::path(std::string(path, size < 0 ? 0 : static_cast<std::size_t>(size)))
      .filename()
      .string();
}

}  // namespace

extern "C" int fsync(int file) {
  calls.push_back("fsync " + name_of(file));
  return reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "fsync"))(file);
}

extern "C" int rename(const char* from, const char* to) noexcept {
  calls.push_back("rename " + std::filesystem::path(from).filename().string());
  return reinterpret_cast<int (*)(const char*, const char*)>(::dlsym(RTLD_NEXT, "rename"))(from,
                                                                                           to);
}

namespace service {
namespace {

using test_support::ok;
using test_support::TemporaryFolder;

// After a power cut, a name without its content is worse than no name: sync the content first, then
// rename, then sync the folder.
TEST(DurableFile, MakesTheContentDurableBeforeTheName) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("session"));
  calls.clear();
  ASSERT_TRUE(ok(write_durably(folder.file("session/record"), "content")));
  EXPECT_EQ(calls,
            (std::vector<std::string>{"fsync .new-record", "rename .new-record", "fsync session"}));
}

// The removal of the name is made durable before the content is deleted.
TEST(DurableFile, MakesADeletionDurableBeforeItBegins) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("store/session"));
  calls.clear();
  ASSERT_TRUE(ok(remove_folder(folder.file("store/session"))));
  EXPECT_EQ(calls, (std::vector<std::string>{"rename session", "fsync store"}));
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("store")));
}

TEST(DurableFile, IsNotReadableByOthers) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(0);
  ASSERT_TRUE(ok(write_durably(folder.file("record"), "content")));
  ASSERT_TRUE(lock_folder(folder.file(".")).ok());
  ::umask(before);
  for (const char* name : {"record", "lock"}) {
    struct stat facts {};
    ASSERT_EQ(::stat(folder.file(name).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, mode_t{0600}) << name;
  }
}

// A link in the data folder may lead outside: nothing is written, read or listed through it.
TEST(DurableFile, DoesNotFollowLinks) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("victim")) << "untouched";
  for (const char* name : {".new-record", "record", "lock"}) {
    std::filesystem::create_symlink(folder.file("victim"), folder.file(name));
  }
  EXPECT_FALSE(write_durably(folder.file("record"), "content").ok());
  EXPECT_FALSE(read_small_file(folder.file("record"), 100).ok());
  EXPECT_FALSE(lock_folder(folder.file(".")).ok());
  std::string victim;
  std::ifstream(folder.file("victim")) >> victim;
  EXPECT_EQ(victim, "untouched");

  std::filesystem::create_directories(folder.file("store/real"));
  std::filesystem::create_directory_symlink("/etc", folder.file("store/linked"));
  EXPECT_EQ(open_item_folders(folder.file("store")).value(), std::vector<std::string>{"real"});
  std::filesystem::create_directory_symlink(folder.file("store"), folder.file("store-link"));
  EXPECT_FALSE(open_item_folders(folder.file("store-link")).ok());
}

}  // namespace
}  // namespace service
