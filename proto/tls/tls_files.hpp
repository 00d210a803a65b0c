#pragma once

#include <string>

namespace proto {

/// What one end of a TLS connection shows and whom it trusts, as files in PEM.
struct TlsFiles {
  std::string certificate;  ///< of this end, with its chain
  std::string private_key;
  std::string authority;  ///< that signed the other end's certificate
};

}  // namespace proto
