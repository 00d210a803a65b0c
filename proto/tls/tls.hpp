#pragma once

#include <asio/ssl/context.hpp>
#include <string>

#include "proto/result.hpp"
#include "proto/tls/tls_files.hpp"

namespace proto {

/// Create the TLS settings for one end of service connections: TLS 1.2 or later; the authority must
/// have signed the peer's certificate.
/// @throws InputError naming the file that cannot be used
asio::ssl::context make_server_tls(const TlsFiles& files);
asio::ssl::context make_client_tls(const TlsFiles& files);

/// Returns whether TLS is requested.
/// @throws InputError if only some of the three files are given
bool has_tls_certificate(const TlsFiles& files);

/// Describes for users why a client's TLS connection failed, and the remedy. `session` is the TLS
/// session of the client. If the service rejects the client's certificate, the first read fails.
std::string describe_tls_problem(const SSL* session, const asio::error_code& error);

/// Returns the identity of the other end of a TLS connection, after the handshake: the common name
/// in its certificate. Unprintable characters are written as %XX.
/// @return error kUnsupported, with the remedy, unless the certificate has exactly one common name
/// that is not empty
Result<std::string> read_peer_name(const SSL* session);

/// Sets up a TLS connection, before the handshake, so that the certificate of the other end must be
/// for `host` (a name or address).
void require_peer_host(SSL* session, const std::string& host);

}  // namespace proto
