#pragma once

#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace proto {

/// Names content by its SHA-256, as it comes.
class ContentName {
 public:
  ContentName();
  ~ContentName();
  ContentName(const ContentName&) = delete;
  ContentName& operator=(const ContentName&) = delete;

  void add(std::string_view bytes);

  /// Of what was added, once: the first 40 hexadecimal digits, or all 64.
  std::string text();
  std::string sha256();

 private:
  evp_md_ctx_st* context_;
};

/// Id of an upload that has this content, see OpenUpload in proto/service.proto.
/// @param attempt  from 1 to kUploadIdsMax; the next one where an id is another's
std::string upload_id(const std::string& content_name, int attempt);
inline constexpr int kUploadIdsMax = 9;

/// The name of the content that an upload's id promises, empty if it promises none.
std::string_view promised_content(std::string_view upload_id);

}  // namespace proto
