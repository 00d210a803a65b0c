#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace service {

/// Digest of the contents of a file, by which changes of the file are recognized.
struct FileDigest {
  std::string sha256 = {};  ///< SHA-256 in hexadecimal; empty if not a regular file
  std::uint64_t size_bytes = 0;
};

/// Returns the digest of a file. The digest is empty for other than regular files. A pipe, for
/// example, can be read only once.
/// @throws proto::InputError if the file cannot be read
FileDigest digest_file(const std::string& path);

FileDigest digest_text(std::string_view text);

}  // namespace service
