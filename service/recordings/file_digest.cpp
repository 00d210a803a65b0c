#include "service/recordings/file_digest.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "proto/recording/mcap/file.hpp"
#include "proto/stream/content_hash.hpp"
#include "proto/text/input_error.hpp"

namespace service {

FileDigest compute_file_digest(const std::string& path) {
  constexpr std::size_t kPartSize = std::size_t{1} << 16;  // read at once [byte]
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return {};
  const auto file = proto::open_input_file(path);
  if (!file.ok()) throw proto::InputError(file.error().detail);
  proto::ContentHash content;
  std::array<std::uint8_t, kPartSize> part;
  const std::uint64_t size = file.value()->size_bytes();
  for (std::uint64_t at = 0; at < size; at += kPartSize) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kPartSize, size - at));
    const auto read = file.value()->read(at, {part.data(), count});
    if (!read.ok()) throw proto::InputError(read.error().detail);
    content.add({reinterpret_cast<const char*>(part.data()), count});
  }
  return {content.sha256(), size};
}

FileDigest compute_text_digest(std::string_view text) {
  proto::ContentHash content;
  content.add(text);
  return {content.sha256(), text.size()};
}

}  // namespace service
