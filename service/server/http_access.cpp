#include "service/server/http_access.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "proto/stream/content_hash.hpp"
#include "proto/text/printable.hpp"

namespace service {
namespace {

constexpr std::chrono::hours kLoginTime(12);
constexpr std::size_t kLoginsMax = 256;

std::string in_lower_case(std::string text) {
  for (char& letter : text) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return text;
}

std::string sha256_of(const std::string& text) {
  proto::ContentHash hash;
  hash.add(text);
  return hash.sha256();
}

bool is_read_only(const HttpRequest& request) { return request.method == "GET"; }

}  // namespace

std::string json_string(const std::string& text) {
  std::string json = "\"";
  for (const char letter : proto::to_utf8(text)) {
    if (letter == '"' || letter == '\\') {
      json += {'\\', letter};
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(letter));
      json += code;
    } else {
      json += letter;
    }
  }
  return json + '"';
}

std::string json_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.9g}", value) : std::string("null");
}

HttpResponse make_http_error(int status, const std::string& code, const std::string& text) {
  HttpResponse response;
  response.status = status;
  response.body =
      "{\"error\":{\"code\":" + json_string(code) + ",\"text\":" + json_string(text) + "}}\n";
  return response;
}

HttpAccess::HttpAccess(HttpAccessConfig config, OperatorNames operators, std::uint16_t port,
                       bool loopback, bool open_to_accounts)
    : config_(std::move(config)),
      operators_(std::move(operators)),
      port_(port),
      loopback_(loopback),
      open_to_accounts_(open_to_accounts) {}

std::optional<HttpResponse> HttpAccess::check_source(const HttpRequest& request,
                                                     const std::string& local) const {
  const auto refuse = [](const std::string& why) { return make_http_error(403, "FORBIDDEN", why); };
  const auto named = request.header("host");
  const std::string host = in_lower_case(named.value_or(""));
  const std::string port = ":" + std::to_string(port_);
  // Monitoring uses any name of this machine, or none. A browser always sends a name.
  const bool is_monitoring = request.path == "/metrics" || request.path == "/health";
  bool known = host == local || host == "localhost" + port ||
               (is_monitoring && named && (host.empty() || !loopback_));
  for (const std::string& name : config_.hosts) {
    known = known || host == in_lower_case(name) || host == in_lower_case(name) + port;
  }
  if (!known) {
    return refuse("the service does not answer requests for the host \"" + host +
                  "\"; use its address, or add the name to http_access.host in its settings");
  }
  const auto origin = request.header("origin");
  // The WebSocket gives live data and accepts no requests that change anything.
  if (request.path == kFoxglovePath && origin &&
      std::ranges::find(config_.origins, *origin) != config_.origins.end()) {
    return std::nullopt;
  }
  if (!origin ||
      (!origin->empty() && *origin != "http://" + host && *origin != "https://" + host)) {
    return refuse("the request comes from a web page of another origin");
  }
  // Browsers set this field. A link from another site may open a page, and nothing else.
  const auto site = request.header("sec-fetch-site");
  const bool is_link = is_read_only(request) && request.header("sec-fetch-mode") == "navigate" &&
                       request.header("sec-fetch-dest") == "document";
  if (!site || (!site->empty() && *site != "same-origin" && *site != "none" && !is_link)) {
    return refuse("the request comes from a web page of another site");
  }
  const std::string type = request.header("content-type").value_or("");
  if (!request.body.empty() && type.substr(0, type.find(';')) != "application/json") {
    return make_http_error(415, "BAD_REQUEST", "the body must have the type application/json");
  }
  return std::nullopt;
}

std::variant<Identity, HttpResponse> HttpAccess::identify(const HttpRequest& request, int socket) {
  if (!config_.tokens.empty()) {
    const std::string authorization = request.header("authorization").value_or("");
    if (in_lower_case(authorization.substr(0, 7)) == "bearer ") {
      const std::string name = identity_of_token(authorization.substr(7));
      if (!name.empty()) return named(name);
    }
    const auto login = logins_.find(cookie(request));
    if (login != logins_.end() && login->second.ends > std::chrono::steady_clock::now()) {
      return named(login->second.identity);
    }
    HttpResponse response = make_http_error(
        401, "UNAUTHENTICATED",
        "this service needs an access token; log in on its page, or send the token as "
        "\"Authorization: Bearer TOKEN\"");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  const auto refuse = [](const std::string& why) {
    return make_http_error(403, "FORBIDDEN", why + "; add http_access.token to its settings");
  };
  if (!loopback_) return refuse("this service has no access tokens for clients on other machines");
  for (const char* const field : {"forwarded", "via", "x-forwarded-for", "x-real-ip"}) {
    if (request.header(field) != "") {
      return refuse("this service has no access tokens for clients behind a proxy");
    }
  }
  const auto account = find_loopback_peer_account(socket);
  if (!account) return refuse("the account of the client is unknown");
  const Identity identity = identify_account(*account, operators_);
  if (open_to_accounts_ || identity.is_operator) return identity;
  return refuse(identity.name + " cannot use the sockets of this service");
}

std::string HttpAccess::identity_of_token(const std::string& token) const {
  const std::string hash = sha256_of(token);
  const auto found = std::ranges::find_if(
      config_.tokens, [&](const HttpToken& known) { return known.sha256 == hash; });
  return found == config_.tokens.end() ? "" : found->identity;
}

std::string HttpAccess::cookie(const HttpRequest& request) const {
  const std::string all = request.header("cookie").value_or("");
  const std::string wanted = cookie_name() + "=";
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find(';', at), all.size());
    const std::size_t begin = std::min(all.find_first_not_of(' ', at), end);
    const std::string part = all.substr(begin, end - begin);
    if (part.starts_with(wanted)) return part.substr(wanted.size());
    at = end + 1;
  }
  return "";
}

HttpResponse HttpAccess::log_in(const HttpRequest& request, const std::string& token) {
  const std::string name = identity_of_token(token);
  if (name.empty()) return make_http_error(401, "UNAUTHENTICATED", "the access token is unknown");
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(logins_, [&](const auto& login) { return login.second.ends <= now; });
  if (logins_.size() >= kLoginsMax) {
    logins_.erase(
        std::ranges::min_element(logins_, {}, [](const auto& login) { return login.second.ends; }));
  }
  const std::string key = sha256_of(proto::make_secret());
  logins_[key] = {name, now + kLoginTime};
  HttpResponse response;
  response.body = "{\"identity\":" + json_string(name) + "}\n";
  const bool https = request.header("origin").value_or("").starts_with("https://");
  response.headers.emplace_back(
      "Set-Cookie", cookie_name() + "=" + key + "; HttpOnly; SameSite=Strict; Path=/; Max-Age=" +
                        std::to_string(std::chrono::seconds(kLoginTime).count()) +
                        (https ? "; Secure" : ""));
  return response;
}

HttpResponse HttpAccess::log_out(const HttpRequest& request) {
  logins_.erase(cookie(request));
  HttpResponse response;
  response.body = "{}\n";
  response.headers.emplace_back("Set-Cookie",
                                cookie_name() + "=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
  return response;
}

}  // namespace service
