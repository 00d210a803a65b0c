#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace service {

/// Digest of a file's content, to recognize changes.
struct FileMark {
  std::string sha256 = {};  ///< of the content, hexadecimal; empty: not a regular file
  std::uint64_t size_bytes = 0;
};

/// Returns the digest of a file; empty if it is not a regular file, e.g. a pipe, which can be read
/// only once.
/// @throws proto::InputError if it cannot be read
FileMark mark_file(const std::string& path);

FileMark mark_text(std::string_view text);

}  // namespace service
