#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "proto/text/files.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_folder.hpp"

namespace proto {
namespace {

using namespace test_support;
using test_support::TemporaryFolder;
namespace fs = std::filesystem;

std::string contents_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

int file_count(const std::string& folder) {
  return static_cast<int>(std::distance(fs::directory_iterator(folder), {}));
}

// A reader must find the old result or the new one. A failure leaves the old one.
TEST(FileWriter, GivesARegularFileItsNameAtTheEnd) {
  const TemporaryFolder folder;
  const std::string path = folder.file("result");
  put(path, "old");
  {
    FileWriter file(path);
    file.write("new");
    EXPECT_EQ(contents_of(path), "old");
  }
  EXPECT_EQ(contents_of(path), "old");
  FileWriter file(path);
  file.write("ne");
  file.write("w");
  file.finish();
  EXPECT_EQ(contents_of(path), "new");
  EXPECT_EQ(file_count(fs::path(path).parent_path().string()), 1) << "nothing temporary stays";
}

// A link "latest.json" into a folder of results must remain a link.
TEST(FileWriter, FollowsLinksToTheirFile) {
  const TemporaryFolder folder;
  fs::create_directory(folder.file("results"));
  put(folder.file("results/one"), "old");
  fs::create_symlink("results/one", folder.file("latest"));
  fs::create_symlink("latest", folder.file("again"));
  write_file(folder.file("again"), "new");
  EXPECT_EQ(contents_of(folder.file("results/one")), "new");
  EXPECT_TRUE(fs::is_symlink(folder.file("again")));
  EXPECT_TRUE(fs::is_symlink(folder.file("latest")));
  EXPECT_FALSE(fs::is_symlink(folder.file("results/one")));
}

TEST(FileWriter, RefusesLinksThatLeadNowhere) {
  const TemporaryFolder folder;
  fs::create_symlink("nothing", folder.file("dangling"));
  fs::create_symlink("round", folder.file("round"));
  for (const char* name : {"dangling", "round"}) {
    expect_parts(refusal([&] { write_file(folder.file(name), "x"); }), {name, "link", "remove"});
    expect_parts(refusal([&] { check_output_file(folder.file(name), {}); }),
                 {name, "link", "remove"});
  }
  EXPECT_FALSE(fs::exists(folder.file("nothing")));
}

// A rename would replace the device by a file, for all users if root does it.
TEST(FileWriter, WritesToDevicesAndPipesAsTheyAre) {
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  check_output_file(pipe, {});
  write_file(pipe, "through");
  char text[16] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 7);
  EXPECT_STREQ(text, "through");
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));

  fs::create_symlink("/dev/null", folder.file("null"));
  check_output_file(folder.file("null"), {});
  write_file(folder.file("null"), "x");
  EXPECT_TRUE(fs::is_symlink(folder.file("null")));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  expect_parts(refusal([] { write_file("/dev/full", "x"); }), {"/dev/full", "No space left"});
}

// /dev/stdout with standard output in a file: text printed before and after is kept.
TEST(FileWriter, AppendsToAnOpenDescriptor) {
  const TemporaryFolder folder;
  const std::string path = folder.file("log");
  const int log = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(::write(log, "before ", 7), 7);
  const std::string name = "/dev/fd/" + std::to_string(log);
  check_output_file(name, {});
  write_file(name, "result");
  ASSERT_EQ(::write(log, " after", 6), 6);
  ::close(log);
  EXPECT_EQ(contents_of(path), "before result after");
}

// An endless device must not fill the memory first.
TEST(ReadFile, StopsAtItsBound) {
  expect_parts(refusal([] { read_file("/dev/zero"); }), {"/dev/zero", "larger than 16 MiB"});
  const test_support::TemporaryFolder folder;
  const std::string path = folder.file("text");
  write_file(path, std::string(1000, 'x'));
  EXPECT_EQ(read_file(path, 1000).size(), 1000U);
  expect_parts(refusal([&] { read_file(path, 999); }), {path, "larger"});
}

// A sparse file of 10 GB occupies no disk, and would fill the memory.
TEST(ReadFile, RefusesLargeFilesBeforeReading) {
  const TemporaryFolder folder;
  const std::string path = folder.file("sparse.csv");
  put(path, "t,x\n");
  fs::resize_file(path, std::uintmax_t{10} << 30);
  expect_parts(refusal([&] { read_file(path, kTableSizeMax); }), {path, "larger than 1024 MiB"});
}

// Without a writer, opening a pipe would wait forever.
TEST(ReadFile, WaitsASecondForTheWriterOfAPipe) {
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_parts(refusal([&] { read_file(pipe); }), {pipe, "is a pipe to which no program writes"});
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    put(pipe, "late");
  });
  EXPECT_EQ(read_file(pipe), "late");
  writer.join();
}

TEST(CheckOverwriting, RefusesExistingFilesButNotDevices) {
  const TemporaryFolder folder;
  const std::string path = folder.file("out");
  check_overwriting(path, false);
  put(path, "precious");
  expect_parts(refusal([&] { check_overwriting(path, false); }), {path, "exists", "--force"});
  check_overwriting(path, true);
  check_overwriting("/dev/null", false);
}

// The ending must match the written format, except for a device.
TEST(CheckEnding, AcceptsTheEndingsOfTheFormat) {
  check_file_extension("a.svg", {".svg", ".csv"});
  check_file_extension("/dev/null", {".svg"});
  expect_parts(refusal([] {
                 check_file_extension("a.png", {".svg", ".csv"});
               }),
               {"a.png: give a name that ends in .svg or .csv"});
}

}  // namespace
}  // namespace proto
