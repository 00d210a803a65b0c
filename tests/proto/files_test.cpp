#include "proto/text/files.hpp"

#include <gtest/gtest.h>

#include "tests/support/refusal.hpp"
#include "tests/support/temporary_folder.hpp"

namespace proto {
namespace {

using test_support::expect_parts;
using test_support::refusal;

// An endless device must not fill the memory first.
TEST(ReadFile, StopsAtItsBound) {
  expect_parts(refusal([] { read_file("/dev/zero"); }), {"/dev/zero", "larger than 16 MiB"});
  const test_support::TemporaryFolder folder;
  const std::string path = folder.file("text");
  write_file(path, std::string(1000, 'x'));
  EXPECT_EQ(read_file(path, 1000).size(), 1000U);
  expect_parts(refusal([&] { read_file(path, 999); }), {path, "larger"});
}

// The ending must match the written format, except for a device.
TEST(CheckEnding, AcceptsTheEndingsOfTheFormat) {
  check_ending("a.svg", {".svg", ".csv"});
  check_ending("/dev/null", {".svg"});
  expect_parts(refusal([] {
                 check_ending("a.png", {".svg", ".csv"});
               }),
               {"a.png: give a name that ends in .svg or .csv"});
}

}  // namespace
}  // namespace proto
