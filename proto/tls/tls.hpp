#pragma once

#include <asio/ssl/context.hpp>
#include <string>

#include "proto/tls/tls_files.hpp"

namespace proto {

/// One end of service connections: TLS 1.2 or later, and the other end must show a certificate that
/// the authority has signed.
/// @throws InputError naming the file that cannot be used
asio::ssl::context make_server_tls(const TlsFiles& files);
asio::ssl::context make_client_tls(const TlsFiles& files);

/// Whether TLS is asked for.
/// @throws InputError when some of the three files are given and others are not
bool wants_tls(const TlsFiles& files);

/// Why a client has no TLS connection, and what to do, for people. `session` is its end; a
/// service's objection to the client's certificate comes with the first read.
std::string tls_problem(const SSL* session, const asio::error_code& error);

/// After a handshake, who the other end is: the common name of its certificate, or the whole
/// subject where there is none. What does not print is written as %XX.
std::string peer_name(const SSL* session);

/// Before a client's handshake: the certificate must be for `host`, a name or an address.
void expect_host(SSL* session, const std::string& host);

}  // namespace proto
