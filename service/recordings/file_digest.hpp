#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace service {

/// Checksum and size of a file, with which rigcal detects changes of the file.
struct FileDigest {
  std::string sha256 = {};  ///< SHA-256 in hexadecimal; empty if not a regular file
  std::uint64_t size_bytes = 0;
};

/// Returns the checksum and size of a file. The checksum is empty for a pipe or another special
/// file, which can be read only once.
/// @throws proto::InputError if the file cannot be read
FileDigest compute_file_digest(const std::string& path);

FileDigest compute_text_digest(std::string_view text);

}  // namespace service
