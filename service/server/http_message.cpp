#include "service/server/http_message.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cctype>
#include <sstream>

namespace service {
namespace {

namespace http = boost::beast::http;

std::string text_of(boost::beast::string_view view) { return {view.data(), view.size()}; }

int status_of(const boost::beast::error_code& error) {
  if (error == http::error::header_limit) return 431;
  if (error == http::error::body_limit) return 413;
  return 400;
}

}  // namespace

std::optional<std::string> HttpRequest::header(std::string_view name) const {
  std::optional<std::string> value;
  for (const auto& [field, text] : headers) {
    if (field != name) continue;
    if (value) return std::nullopt;
    value = text;
  }
  return value.value_or("");
}

struct HttpRequestParser::State {
  http::request_parser<http::string_body> parser;
};

HttpRequestParser::HttpRequestParser() : state_(std::make_unique<State>()) {
  state_->parser.eager(true);
  state_->parser.header_limit(kHeaderSizeMax);
  state_->parser.body_limit(kBodySizeMax);
}

HttpRequestParser::~HttpRequestParser() = default;
HttpRequestParser::HttpRequestParser(HttpRequestParser&&) noexcept = default;
HttpRequestParser& HttpRequestParser::operator=(HttpRequestParser&&) noexcept = default;

int HttpRequestParser::feed(std::string& input) {
  boost::beast::error_code error;
  while (!input.empty() && !is_done()) {
    const std::size_t used = state_->parser.put(boost::asio::buffer(input), error);
    input.erase(0, used);
    if (error == http::error::need_more) break;
    if (error) return status_of(error);
    if (used == 0) break;
  }
  return 0;
}

bool HttpRequestParser::is_done() const { return state_->parser.is_done(); }

bool HttpRequestParser::has_begun() const { return state_->parser.got_some(); }

HttpRequest HttpRequestParser::take() const {
  const auto& message = state_->parser.get();
  HttpRequest request;
  request.method = text_of(message.method_string());
  const std::string target = text_of(message.target());
  const std::size_t mark = target.find('?');
  request.path = target.substr(0, mark);
  if (mark != std::string::npos) request.query = target.substr(mark + 1);
  for (const auto& field : message) {
    std::string name = text_of(field.name_string());
    for (char& letter : name) {
      letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    request.headers.emplace_back(std::move(name), text_of(field.value()));
  }
  request.body = message.body();
  request.keep_alive = message.keep_alive();
  return request;
}

std::string make_response_head(const HttpResponse& response, std::optional<std::size_t> body_size,
                               bool keep_alive) {
  http::response<http::empty_body> message;
  message.version(11);
  message.result(static_cast<unsigned>(response.status));
  message.set(http::field::content_type, response.type);
  if (body_size) message.content_length(*body_size);
  message.keep_alive(keep_alive && body_size);
  message.set(http::field::cache_control, "no-store");
  message.set("X-Content-Type-Options", "nosniff");
  message.set("X-Frame-Options", "DENY");
  message.set("Referrer-Policy", "no-referrer");
  message.set("Cross-Origin-Opener-Policy", "same-origin");
  message.set("Cross-Origin-Resource-Policy", "same-origin");
  message.set("Content-Security-Policy",
              "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
              "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  for (const auto& [name, value] : response.headers) message.set(name, value);
  std::ostringstream text;
  text << message.base();
  return text.str();
}

std::string query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    if (part.substr(0, part.find('=')) == name && part.size() > name.size()) {
      return std::string(part.substr(name.size() + 1));
    }
    query.remove_prefix(std::min(query.size(), part.size() + 1));
  }
  return "";
}

}  // namespace service
