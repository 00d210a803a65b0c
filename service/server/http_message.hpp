#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace service {

/// Content-Security-Policy of reports. A report contains scripts, which must not get the access
/// rights of the reader.
inline constexpr const char* kReportPolicy =
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; frame-ancestors 'none'";

/// Path at which clients of the Foxglove WebSocket protocol connect.
inline constexpr const char* kFoxglovePath = "/foxglove";

/// Header fields of a message, in order.
using HttpFields = std::vector<std::pair<std::string, std::string>>;

/// A complete HTTP request.
struct HttpRequest {
  std::string method;
  std::string path;    ///< target up to "?", percent-encoded as received
  std::string query;   ///< target after "?"
  HttpFields headers;  ///< names in lower case
  std::string body;
  bool keep_alive = false;

  /// Returns the value of a header field, or an empty text. Returns nullopt if the field occurs
  /// more than once.
  std::optional<std::string> header(std::string_view lower_case_name) const;
};

/// An HTTP response: the whole response, or the head of a response whose body follows in parts.
struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body{};
  HttpFields headers{};  ///< in addition to those that every response has
};

/// Parser of HTTP/1.1 requests, by Boost.Beast. It needs no socket: the caller feeds it with the
/// bytes that it has received.
class HttpRequestParser {
 public:
  static constexpr std::size_t kHeaderSizeMax = 16u << 10;
  static constexpr std::size_t kBodySizeMax = 1u << 20;

  HttpRequestParser();
  ~HttpRequestParser();
  HttpRequestParser(HttpRequestParser&&) noexcept;
  HttpRequestParser& operator=(HttpRequestParser&&) noexcept;

  /// Removes parsed bytes from the front of `input`. The caller appends further bytes to the rest.
  /// @return status of the response to a damaged or oversized request; 0 if there is no error
  int feed(std::string& input);

  bool is_done() const;      ///< true if the request is complete
  bool has_begun() const;    ///< true if a part of the request was received
  HttpRequest take() const;  ///< returns the complete request

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns the head of a response, with the headers that protect the page: no sniffing of types, no
/// frames, no other origins, no caching.
/// @param body_size  size of the body; nullopt if the body ends with the connection
std::string make_response_head(const HttpResponse& response, std::optional<std::size_t> body_size,
                               bool keep_alive);

/// Returns the value of a name in a query such as "limit=20&rate=30"; empty if it is missing.
std::string query_value(std::string_view query, std::string_view name);

}  // namespace service
