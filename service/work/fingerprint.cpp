#include "service/work/fingerprint.hpp"

#include <cinttypes>
#include <cstdio>

namespace service {

std::string Fingerprint::hex() const {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash_);
  return text;
}

}  // namespace service
