#include "proto/stream/session_secret.hpp"

#include <unistd.h>

#include <cstdlib>

namespace proto {

std::string make_secret() {
  std::string secret(kSecretSizeMax, '\0');
  // Fails only if the kernel provides no random numbers; a secret would then be predictable.
  if (::getentropy(secret.data(), secret.size()) != 0) std::abort();
  return secret;
}

bool secrets_equal(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  volatile unsigned char difference =
      0;  // volatile, so that the loop is not ended at the first difference
  for (std::size_t k = 0; k < one.size(); ++k) {
    difference = static_cast<unsigned char>(difference | (one[k] ^ other[k]));
  }
  return difference == 0;
}

}  // namespace proto
