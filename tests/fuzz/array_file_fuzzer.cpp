// Feeds arbitrary bytes to the readers of MAT, HDF5 and NumPy files. Any file is refused in one
// sentence that names it, or its arrays can be read with the sizes that were listed.

#include "proto/recording/arrays/array_file.hpp"

#include "tests/fuzz/fuzzed_file.hpp"
#include "tests/fuzz/refusal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Larger arrays are legal but slow down the search.
  constexpr std::size_t kCountMax = 100'000, kReadMax = 32;
  const std::string& path = fuzz::write_fuzzed_file(data, size);
  fuzz::expect_value_or_refusal(path, [&] {
    const auto file = proto::open_array_file(path);
    fuzz::require(file->arrays().size() <= proto::kArraysMax);
    std::size_t read = 0;
    for (const proto::ArrayFile::Array& array : file->arrays()) {
      if (array.count() > kCountMax || read == kReadMax) continue;
      ++read;
      fuzz::expect_value_or_refusal(
          path, [&] { fuzz::require(file->read(array).size() == array.count()); });
    }
  });
  return 0;
}
