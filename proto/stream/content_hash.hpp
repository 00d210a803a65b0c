#pragma once

#include <cstddef>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace proto {

/// Computes the SHA-256 name of content that is added in parts.
class ContentHash {
 public:
  ContentHash();
  ~ContentHash();
  ContentHash(const ContentHash&) = delete;
  ContentHash& operator=(const ContentHash&) = delete;

  void add(std::string_view bytes);

  /// Returns the name of the content: the first 40 hexadecimal digits of its SHA-256; sha256()
  /// returns all 64. Only one of the two may be called, once.
  std::string text();
  std::string sha256();

 private:
  evp_md_ctx_st* context_;
};

/// Returns the id of an upload with this content, see OpenUpload in proto/service.proto.
/// @param attempt  from 1 to kUploadIdsMax; increment it if the id belongs to another identity
std::string upload_id(const std::string& content_name, int attempt);
inline constexpr int kUploadIdsMax = 9;

/// Returns the content's name within an upload id; empty if the id does not contain one.
std::string_view content_hash_of(std::string_view upload_id);

/// Range of the size of a session's secret [byte].
inline constexpr std::size_t kSecretSizeMin = 16;
inline constexpr std::size_t kSecretSizeMax = 32;

/// Returns kSecretSizeMax random bytes.
std::string make_secret();

/// Returns whether two secrets are equal, in a time that does not depend on their content.
bool secrets_equal(std::string_view one, std::string_view other);

}  // namespace proto
