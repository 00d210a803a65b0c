#include "proto/recording/arrays/child_file.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "proto/text/input_error.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_folder.hpp"

namespace proto {
namespace {

using test_support::expect_parts;
using test_support::refusal;

/// File with an array, a text and an omission, whose reading is a function.
class SmallFile final : public ArrayFile {
 public:
  SmallFile(const std::string& path, std::function<std::vector<double>()> read)
      : ArrayFile(path), read_(std::move(read)) {
    const std::array<std::uint64_t, 2> size = {2, 3};
    add_array("x", size);
    add_text("name", "left");
    add_omission("z", "is complex");
  }

 private:
  std::optional<std::vector<double>> read_values(std::size_t) const override { return read_(); }

  std::function<std::vector<double>()> read_;
};

class ChildFiles : public ::testing::Test {
 protected:
  ChildFiles() { std::ofstream(path_) << "content"; }

  std::unique_ptr<const ArrayFile> open(std::function<std::vector<double>()> read) const {
    return open_in_child(path_, "library", [&](const std::string& path) {
      return std::make_unique<const SmallFile>(path, read);
    });
  }

  /// Returns the refusal of a file that `fail` opens in the child.
  std::string refused(const std::function<void()>& fail) const {
    return refusal([&] {
      (void)open_in_child(path_, "library", [&](const std::string& path) {
        fail();
        return std::make_unique<const SmallFile>(path, [] { return std::vector<double>(6); });
      });
    });
  }

  test_support::TemporaryFolder folder_;
  std::string path_ = folder_.file("run.h5");
};

void crash() { ::raise(SIGSEGV); }

TEST_F(ChildFiles, PassListsAndNumbersToTheParent) {
  const auto file = open([] { return std::vector<double>{1, 2, 3, 4, 5, 6}; });
  ASSERT_EQ(file->arrays().size(), 1U);
  EXPECT_EQ(file->arrays()[0].name, "x");
  EXPECT_EQ(file->arrays()[0].size_text(), "2×3");
  EXPECT_EQ(file->read_texts("name"), std::vector<std::string>{"left"});
  ASSERT_EQ(file->omissions().size(), 1U);
  EXPECT_EQ(file->omissions()[0].reason, "is complex");
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(file->read(file->arrays()[0]), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  }
}

TEST_F(ChildFiles, PassErrorsToTheParent) {
  EXPECT_EQ(refused([] { throw InputError("run.h5: is a song"); }), "run.h5: is a song");
}

// A damaged file must end neither the program nor the machine.
TEST_F(ChildFiles, RefuseFilesThatCrashTheLibrary) {
  expect_parts(refused(crash), {"run.h5", "is damaged: the library cannot read it"});
  const auto file = open([] {
    crash();
    return std::vector<double>();
  });
  expect_parts(refusal([&] { (void)file->read(file->arrays()[0]); }),
               {"run.h5", "\"x\" is damaged"});
}

TEST_F(ChildFiles, RefuseFilesThatNeedTooMuchMemory) {
  const std::string message = refused([] {
    std::vector<std::unique_ptr<char[]>> pieces;  // not written to, which would take long
    for (int k = 0; k < 40; ++k) {
      pieces.push_back(std::make_unique_for_overwrite<char[]>(std::size_t{100} << 20));
    }
  });
  expect_parts(message, {"run.h5", "is damaged: the library cannot read it"});
}

TEST_F(ChildFiles, RefuseFilesThatTakeTooLong) {
  const std::string message = refused([] {
    for (volatile unsigned k = 0;; k = k + 1) {
    }
  });
  expect_parts(message, {"run.h5", "takes too long to read"});
}

TEST_F(ChildFiles, RefuseArraysOfAnotherSizeThanListed) {
  const auto file = open([] { return std::vector<double>{1, 2}; });
  expect_parts(refusal([&] { (void)file->read(file->arrays()[0]); }), {"\"x\" is damaged"});
}

}  // namespace
}  // namespace proto
