#include "service/recordings/file_digest.hpp"

#include <filesystem>

#include "proto/recording/mcap/file.hpp"
#include "proto/stream/content_hash.hpp"
#include "proto/text/input_error.hpp"

namespace service {

FileDigest compute_file_digest(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return {};
  const auto file = proto::open_input_file(path);
  if (!file.ok()) throw proto::InputError(file.error().detail);
  proto::ContentHash content;
  if (const auto read = content.add_file(*file.value()); !read.ok()) {
    throw proto::InputError(read.error().detail);
  }
  return {content.sha256(), file.value()->size_bytes()};
}

FileDigest compute_text_digest(std::string_view text) {
  proto::ContentHash content;
  content.add(text);
  return {content.sha256(), text.size()};
}

}  // namespace service
