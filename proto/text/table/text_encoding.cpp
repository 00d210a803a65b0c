#include "proto/text/table/text_encoding.hpp"

#include <iconv.h>

#include <algorithm>
#include <array>

#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/printable.hpp"

namespace proto {
namespace {

/// Returns the name of the encoding of UTF-16 text; empty for other text. Half of the bytes of
/// UTF-16 text in a Latin script are zero.
std::string find_utf16(std::string_view text) {
  if (text.starts_with("\xFF\xFE")) return "UTF-16LE";
  if (text.starts_with("\xFE\xFF")) return "UTF-16BE";
  if (text.size() < 4) return "";
  if (text[0] != 0 && text[1] == 0 && text[2] != 0 && text[3] == 0) return "UTF-16LE";
  if (text[0] == 0 && text[1] != 0 && text[2] == 0 && text[3] != 0) return "UTF-16BE";
  return "";
}

/// Converts text to UTF-8 by iconv. Characters that are invalid or cut off are left out.
std::string convert_to_utf8(const std::string& path, std::string_view text,
                            const std::string& encoding) {
  const iconv_t converter = iconv_open("UTF-8", encoding.c_str());
  if (converter == reinterpret_cast<iconv_t>(-1)) {
    throw InputError(path + ": is text in " + encoding +
                     ", which this system cannot convert. Save it as UTF-8");
  }
  std::string converted;
  std::array<char, 4096> buffer{};
  char* input = const_cast<char*>(text.data());  // iconv does not write to its input
  std::size_t left = text.size();
  while (left > 0) {
    char* output = buffer.data();
    std::size_t room = buffer.size();
    const std::size_t before = left;
    const std::size_t failed = iconv(converter, &input, &left, &output, &room);
    converted.append(buffer.data(), buffer.size() - room);
    if (failed != static_cast<std::size_t>(-1) || left < before) continue;
    const std::size_t skipped = std::min<std::size_t>(left, encoding.starts_with("UTF-16") ? 2 : 1);
    input += skipped;
    left -= skipped;
  }
  iconv_close(converter);
  return converted;
}

}  // namespace

DecodedText decode_text(const std::string& path, std::string_view contents) {
  DecodedText decoded;
  decoded.encoding = find_utf16(contents);
  if (decoded.encoding.empty()) {
    contents = contents.substr(0, contents.find_last_not_of('\0') + 1);
    const std::string_view whole =
        contents.substr(0, contents.size() - incomplete_character_size(contents));
    const bool is_text = contents.find('\0') == std::string_view::npos;
    if (is_text && !is_utf8(whole)) decoded.encoding = "ISO-8859-1";
    decoded.view = strip_byte_order_mark(whole);
  }
  if (!decoded.encoding.empty()) {
    const std::string text = convert_to_utf8(path, contents, decoded.encoding);
    const std::string_view plain = strip_byte_order_mark(text);
    decoded.converted = plain.substr(0, plain.find_last_not_of('\0') + 1);
  }
  if (decoded.text().find('\0') != std::string_view::npos) {
    throw InputError(path + ": is not a text file; recordings are CSV in UTF-8");
  }
  return decoded;
}

}  // namespace proto
