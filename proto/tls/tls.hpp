#pragma once

#include <asio/ssl/context.hpp>
#include <string>

#include "proto/tls/tls_files.hpp"

namespace proto {

/// Create the TLS settings for one end of service connections: TLS 1.2 or later, with a peer whose
/// certificate was signed by the authority.
/// @throws InputError naming the file that cannot be used
asio::ssl::context make_server_tls(const TlsFiles& files);
asio::ssl::context make_client_tls(const TlsFiles& files);

/// Returns whether TLS is requested.
/// @throws InputError if only some of the three files are given
bool wants_tls(const TlsFiles& files);

/// Returns why a client's TLS connection failed and what to do, for people. `session` is the TLS
/// session of the client. A service that rejects the client's certificate reports it with the first
/// read.
std::string tls_problem(const SSL* session, const asio::error_code& error);

/// Returns the peer's identity after a handshake: the common name of its certificate, or the whole
/// subject without one. Unprintable characters are written as %XX.
std::string peer_name(const SSL* session);

/// Requires, before a handshake, that the peer's certificate is for `host`, a name or address.
void expect_host(SSL* session, const std::string& host);

}  // namespace proto
