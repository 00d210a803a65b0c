#pragma once

#include <string>
#include <string_view>

namespace proto {

/// Text of a file in UTF-8.
struct DecodedText {
  std::string converted;  ///< the text, if it had to be converted
  std::string encoding;   ///< name of the encoding for messages; empty for UTF-8
  std::string_view view;  ///< the text if it already was UTF-8, without byte order mark

  std::string_view text() const { return encoding.empty() ? view : std::string_view(converted); }
};

/// Decodes the text of a file: UTF-8, UTF-16 with or without byte order mark, or ISO 8859-1 for
/// other bytes. Null bytes at the end, as after a power failure, are removed.
/// @param contents  contents of the file; must outlive the result
/// @throws InputError if the file is not a text file
DecodedText decode_text(const std::string& path, std::string_view contents);

}  // namespace proto
