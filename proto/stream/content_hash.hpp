#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "proto/recording/mcap/file.hpp"
#include "proto/result.hpp"

struct evp_md_ctx_st;

namespace proto {

/// Computes a name for content from its SHA-256 hash. Content can be added in parts.
class ContentHash {
 public:
  ContentHash();
  ~ContentHash();
  ContentHash(const ContentHash&) = delete;
  ContentHash& operator=(const ContentHash&) = delete;

  void add(std::string_view bytes);

  /// Adds the content of a file, or its first `size_bytes_max` bytes.
  Status add_file(const InputFile& file,
                  std::uint64_t size_bytes_max = std::numeric_limits<std::uint64_t>::max());

  /// Returns the name of the content: the first 40 hexadecimal digits of its SHA-256; sha256()
  /// returns all 64. Only one of the two may be called, once.
  std::string text();
  std::string sha256();

 private:
  evp_md_ctx_st* context_;
};

/// Returns the name of the content that has this SHA-256 hash (see ContentHash::text).
std::string name_of_sha256(const std::string& sha256);

/// Returns the id of an upload to the service (see OpenUpload in proto/service.proto) for content
/// with this name.
/// @param attempt  from 1 to kUploadIdsMax; increment it if the id belongs to another identity
std::string make_upload_id(const std::string& content_name, int attempt);
inline constexpr int kUploadIdsMax = 9;

/// Returns the name of the content that an upload id contains; empty if the id contains none.
std::string_view extract_content_hash(std::string_view upload_id);

/// Range of the size of a session's secret [byte].
inline constexpr std::size_t kSecretSizeMin = 16;
inline constexpr std::size_t kSecretSizeMax = 32;

/// Returns kSecretSizeMax random bytes.
std::string make_secret();

/// Returns whether two secrets are equal, in a time that does not depend on their content.
bool are_secrets_equal(std::string_view one, std::string_view other);

}  // namespace proto
