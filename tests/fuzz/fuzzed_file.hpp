#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace fuzz {

/// Writes the bytes to a file of this process, for readers that read files by name, and returns its
/// path. The file is removed at the end of the process.
inline const std::string& write_fuzzed_file(const std::uint8_t* data, std::size_t size) {
  struct File {
    std::string path =
        (std::filesystem::temp_directory_path() / ("rigcal-fuzz-" + std::to_string(::getpid())))
            .string();
    ~File() {
      std::error_code ignored;
      std::filesystem::remove(path, ignored);
    }
  };
  static const File file;
  std::ofstream(file.path, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  return file.path;
}

}  // namespace fuzz
