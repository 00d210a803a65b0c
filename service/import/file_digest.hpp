#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace service {

/// Digest of a file's content, to recognize changes.
struct FileDigest {
  std::string sha256 = {};  ///< of the content, hexadecimal; empty: not a regular file
  std::uint64_t size_bytes = 0;
};

/// Returns the digest of a file; empty if it is not a regular file, e.g. a pipe, which can be read
/// only once.
/// @throws proto::InputError if it cannot be read
FileDigest digest_file(const std::string& path);

FileDigest digest_text(std::string_view text);

}  // namespace service
