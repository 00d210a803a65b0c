#include "proto/stream/content_hash.hpp"

#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace proto {
namespace {

constexpr std::string_view kUploadPrefix = "file-";
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::size_t kNameSize = 40;

}  // namespace

ContentHash::ContentHash() : context_(::EVP_MD_CTX_new()) {
  // Fails only without memory. Aborts, as any other name would be wrong.
  if (context_ == nullptr || ::EVP_DigestInit_ex(context_, ::EVP_sha256(), nullptr) != 1) {
    std::abort();
  }
}

ContentHash::~ContentHash() { ::EVP_MD_CTX_free(context_); }

void ContentHash::add(std::string_view bytes) {
  ::EVP_DigestUpdate(context_, bytes.data(), bytes.size());
}

Status ContentHash::add_file(const InputFile& file, std::uint64_t size_bytes_max) {
  constexpr std::uint64_t kPartSize = 1u << 20;
  const std::uint64_t size = std::min(file.size_bytes(), size_bytes_max);
  std::string part;
  for (std::uint64_t at = 0; at < size; at += part.size()) {
    part.resize(std::min(size - at, kPartSize));
    const Status read = file.read(at, {reinterpret_cast<std::uint8_t*>(part.data()), part.size()});
    if (!read.ok()) return read;
    add(part);
  }
  return success();
}

std::string ContentHash::text() { return name_of_sha256(sha256()); }

std::string ContentHash::sha256() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  ::EVP_DigestFinal_ex(context_, digest, &size);
  std::string text;
  for (unsigned k = 0; k < size; ++k) {
    text += kHexDigits[digest[k] >> 4];
    text += kHexDigits[digest[k] & 15];
  }
  return text;
}

std::string name_of_sha256(const std::string& sha256) { return sha256.substr(0, kNameSize); }

std::string make_upload_id(const std::string& content_name, int attempt) {
  const std::string id = std::string(kUploadPrefix) + content_name;
  return attempt == 1 ? id : id + "-" + std::to_string(attempt);
}

std::string_view extract_content_hash(std::string_view upload_id) {
  if (!upload_id.starts_with(kUploadPrefix)) return {};
  upload_id.remove_prefix(kUploadPrefix.size());
  const std::string_view name = upload_id.substr(0, kNameSize);
  const std::string_view rest = upload_id.substr(name.size());
  const bool numbered = rest.size() == 2 && rest[0] == '-' && rest[1] >= '2' && rest[1] <= '9';
  const bool named =
      name.size() == kNameSize && name.find_first_not_of(kHexDigits) == std::string_view::npos;
  return named && (rest.empty() || numbered) ? name : std::string_view();
}

std::string make_secret() {
  std::string secret(kSecretSizeMax, '\0');
  // Fails only if the kernel provides no random numbers; a secret would then be predictable.
  if (::getentropy(secret.data(), secret.size()) != 0) std::abort();
  return secret;
}

bool are_secrets_equal(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  volatile unsigned char difference =
      0;  // volatile, so that the loop is not ended at the first difference
  for (std::size_t k = 0; k < one.size(); ++k) {
    difference = static_cast<unsigned char>(difference | (one[k] ^ other[k]));
  }
  return difference == 0;
}

}  // namespace proto
