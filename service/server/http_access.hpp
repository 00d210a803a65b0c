#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "service/server/http_message.hpp"
#include "service/server/sessions/identity.hpp"

namespace service {

/// Access token of HTTP clients.
struct HttpToken {
  std::string sha256;    ///< SHA-256 of the token, 64 hexadecimal digits
  std::string identity;  ///< name of the identity of its bearers (see Identity::name)
};

/// Settings of access over HTTP.
struct HttpAccessConfig {
  std::vector<std::string> hosts;  ///< names by which clients may address the service
  std::vector<HttpToken> tokens;
  std::vector<std::string> origins = {};  ///< of web pages that may receive live data
};

/// Decides which HTTP requests the service answers, and for which identity. HTTP gives no client
/// more rights than the binary protocol:
///
/// - Requests of web pages of other origins are refused, and requests under host names that are not
///   the service's own: a foreign page could otherwise use the rights of its viewer (cross-site
///   requests, DNS rebinding).
/// - If the settings contain tokens, a client must send a token or log in with a token. The
///   response to a login sets a cookie that scripts cannot read and that browsers send to this
///   service only.
/// - Without tokens only accounts of this machine have access, by loopback connections. An account
///   must also be able to use the service's sockets.
class HttpAccess {
 public:
  /// @param port      port of the HTTP server
  /// @param loopback  whether the server listens at a loopback address
  /// @param open_to_accounts  whether every account of this machine may use the binary protocol
  HttpAccess(HttpAccessConfig config, OperatorNames operators, std::uint16_t port, bool loopback,
             bool open_to_accounts);

  /// Returns the response that refuses a request because of its host, origin or type; nullopt if
  /// the service may answer it.
  /// @param local  address of the service's end of the connection, "HOST:PORT"
  std::optional<HttpResponse> check_source(const HttpRequest& request,
                                           const std::string& local) const;

  /// Returns the identity of the client, or the response that refuses it.
  /// @param socket  the connection, for the account of a client on this machine
  std::variant<Identity, HttpResponse> identify(const HttpRequest& request, int socket);

  /// Logs a client in with a token, and returns the response with its cookie.
  HttpResponse log_in(const HttpRequest& request, const std::string& token);
  /// Ends the client's login.
  HttpResponse log_out(const HttpRequest& request);

 private:
  struct Login {
    std::string identity;
    std::chrono::steady_clock::time_point ends;
  };

  std::string identity_of_token(const std::string& token) const;
  std::string cookie(const HttpRequest& request) const;
  std::string cookie_name() const { return "rigcal-" + std::to_string(port_); }
  Identity named(const std::string& name) const { return identify_name(name, operators_); }

  HttpAccessConfig config_;
  OperatorNames operators_;
  std::uint16_t port_;
  bool loopback_;
  bool open_to_accounts_;
  std::map<std::string, Login> logins_;  // by cookie
};

/// Returns a response with an error as JSON: {"error": {"code": ..., "text": ...}}.
HttpResponse make_http_error(int status, const std::string& code, const std::string& text);

/// Returns a text as a JSON string.
std::string json_string(const std::string& text);
/// Returns a number as JSON with nine digits; null if it is not finite.
std::string json_number(double value);

}  // namespace service
