// Feeds arbitrary bytes to the readers of MAT, HDF5 and NumPy files. Any file is refused in one
// sentence that names it, or its arrays can be read with the sizes that were listed. The HDF5
// library crashes on some files: such a file must be refused.

#include "proto/recording/arrays/array_file.hpp"
#include "tests/fuzz/child_batch.hpp"
#include "tests/fuzz/fuzzed_file.hpp"
#include "tests/fuzz/refusal.hpp"

namespace {

using Opener = std::unique_ptr<const proto::ArrayFile> (*)(const std::string& path);

void check(const std::string& path, Opener open) {
  // Larger arrays are legal but slow down the search.
  constexpr std::size_t kCountMax = 100'000, kReadMax = 32;
  fuzz::expect_value_or_refusal(path, [&] {
    const auto file = open(path);
    fuzz::require(file->arrays().size() <= proto::kArraysMax);
    std::size_t read = 0;
    for (const proto::ArrayFile::Array& array : file->arrays()) {
      if (array.count() > kCountMax || read == kReadMax) continue;
      ++read;
      fuzz::expect_value_or_refusal(
          path, [&] { fuzz::require(file->read(array).size() == array.count()); });
    }
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // open_hdf5_file() starts a child process for each file. One child for many files is faster. The
  // HDF5 library does not end for some files, which take one second each in a child of their own.
  constexpr int kSlowFilesMax = 20;
  static int slow_file_count = 0;
  static const std::string path = fuzz::write_fuzzed_file(data, size);
  static fuzz::ChildBatch batch(
      [](const fuzz::Input& input) {
        fuzz::write_fuzzed_file(input.data(), input.size());
        check(path, proto::open_hdf5_file_in_this_process);
      },
      [](const fuzz::Input& input, bool is_timeout) {
        if (is_timeout && ++slow_file_count > kSlowFilesMax) return;
        fuzz::write_fuzzed_file(input.data(), input.size());
        check(path, proto::open_array_file);
      });
  if (proto::is_hdf5(std::span(data, size))) {
    batch.add(data, size);
  } else {
    fuzz::write_fuzzed_file(data, size);
    check(path, proto::open_array_file);
  }
  return 0;
}
