#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace service {

/// What tells whether a file is the one that it was.
struct FileMark {
  std::string sha256 = {};  ///< of its content, in hexadecimal; empty: not of a file
  std::uint64_t size_bytes = 0;
};

/// Of a file's content; empty for what is no regular file, such as a pipe, which can be read once.
/// @throws proto::InputError when it cannot be read
FileMark mark_file(const std::string& path);

FileMark mark_text(std::string_view text);

}  // namespace service
