#pragma once

#include <string>

namespace proto {

/// Certificates and key of one end of a TLS connection, as PEM files.
struct TlsFiles {
  std::string certificate;  ///< certificate of this end, with its chain
  std::string private_key;
  std::string authority;  ///< authority that must have signed the peer's certificate
};

}  // namespace proto
