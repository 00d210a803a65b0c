#include "service/server/foxglove/web_socket_thread.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <deque>
#include <map>
#include <thread>
#include <utility>

namespace service {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;
using tcp = boost::asio::ip::tcp;
using Request = http::request<http::empty_body>;

constexpr std::chrono::seconds kIdleTime(60);  // a client that answers no ping is closed

Request make_request(const HttpRequest& plain) {
  Request request;
  request.version(11);
  request.method_string(plain.method);
  request.target(plain.path);
  for (const auto& [name, value] : plain.headers) request.insert(name, value);
  return request;
}

/// One connection. Used on the thread of the WebSocketThread only.
class WebSocketConnection : public std::enable_shared_from_this<WebSocketConnection> {
 public:
  WebSocketConnection(tcp::socket socket, std::function<void(const std::string&)> on_text,
                      std::function<void()> on_closed)
      : stream_(std::move(socket)), on_text_(std::move(on_text)), on_closed_(std::move(on_closed)) {
    websocket::stream_base::timeout timeout =
        websocket::stream_base::timeout::suggested(beast::role_type::server);
    timeout.idle_timeout = kIdleTime;
    stream_.set_option(timeout);
    stream_.read_message_max(WebSocketThread::kTextMax);
  }

  void accept(const Request& request, const std::string& protocol) {
    stream_.set_option(
        websocket::stream_base::decorator([protocol](websocket::response_type& response) {
          if (!protocol.empty()) response.set(http::field::sec_websocket_protocol, protocol);
        }));
    stream_.async_accept(request, [self = shared_from_this()](const beast::error_code& error) {
      if (error) return self->end();
      self->is_open_ = true;
      self->read();
      self->write();
    });
  }

  void send(bool is_binary, std::string bytes) {
    if (ended_) return;
    const bool is_full = unread_bytes_ + bytes.size() > WebSocketThread::kUnreadMax;
    if (is_full && is_binary) return;
    if (is_full) return end();  // the client does not even read control messages
    unread_bytes_ += bytes.size();
    waiting_.emplace_back(is_binary, std::move(bytes));
    write();
  }

  void end() {
    if (std::exchange(ended_, true)) return;
    beast::error_code ignored;
    stream_.next_layer().close(ignored);
    on_closed_();
  }

 private:
  void read() {
    stream_.async_read(received_,
                       [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                         if (error) return self->end();
                         const auto bytes = self->received_.cdata();
                         self->on_text_({static_cast<const char*>(bytes.data()), bytes.size()});
                         self->received_.clear();
                         self->read();
                       });
  }

  void write() {
    if (!is_open_ || ended_ || is_writing_ || waiting_.empty()) return;
    is_writing_ = true;
    stream_.binary(waiting_.front().first);
    stream_.async_write(boost::asio::buffer(waiting_.front().second),
                        [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                          self->is_writing_ = false;
                          if (error) return self->end();
                          self->unread_bytes_ -= self->waiting_.front().second.size();
                          self->waiting_.pop_front();
                          self->write();
                        });
  }

  websocket::stream<tcp::socket, false> stream_;
  std::function<void(const std::string&)> on_text_;
  std::function<void()> on_closed_;
  beast::flat_buffer received_;
  std::deque<std::pair<bool, std::string>> waiting_;  // whether binary, bytes
  std::size_t unread_bytes_ = 0;
  bool is_open_ = false, is_writing_ = false, ended_ = false;
};

}  // namespace

struct WebSocketThread::State {
  Poster main;
  std::shared_ptr<Handlers> handlers;  // main thread
  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard{io.get_executor()};
  std::map<std::uint64_t, std::shared_ptr<WebSocketConnection>> connections;  // on the thread
  std::uint64_t last_number = 0;                                              // on the main thread
  std::thread thread;

  /// Calls a handler on the main thread, unless the WebSocketThread is gone by then.
  template <typename Call>
  void on_main(Call call) {
    main([weak = std::weak_ptr<Handlers>(handlers), call = std::move(call)] {
      if (const auto there = weak.lock()) call(*there);
    });
  }

  void send(std::uint64_t number, bool is_binary, std::string bytes) {
    boost::asio::post(io, [this, number, is_binary, bytes = std::move(bytes)]() mutable {
      const auto found = connections.find(number);
      if (found == connections.end()) return;
      const auto connection = found->second;  // sending may remove it
      connection->send(is_binary, std::move(bytes));
    });
  }
};

WebSocketThread::WebSocketThread(Poster main, Handlers handlers)
    : state_(std::make_unique<State>()) {
  state_->main = std::move(main);
  state_->handlers = std::make_shared<Handlers>(std::move(handlers));
  state_->thread = std::thread([state = state_.get()] { state->io.run(); });
}

WebSocketThread::~WebSocketThread() {
  state_->io.stop();
  state_->thread.join();
}

std::uint64_t WebSocketThread::accept(int descriptor, const HttpRequest& request,
                                      const std::string& protocol) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  const int copy = ::dup(descriptor);
  if (copy < 0) return 0;
  const std::uint64_t number = ++state_->last_number;
  const tcp kind = address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4();
  boost::asio::post(state_->io, [state = state_.get(), copy, kind, number, protocol,
                                 upgrade = make_request(request)] {
    tcp::socket socket(state->io);
    beast::error_code error;
    socket.assign(kind, copy, error);
    if (error) {
      ::close(copy);
      return state->on_main([number](Handlers& on) { on.on_closed(number); });
    }
    const auto connection = std::make_shared<WebSocketConnection>(
        std::move(socket),
        [state, number](const std::string& text) {
          state->on_main([number, text](Handlers& on) { on.on_text(number, text); });
        },
        [state, number] {
          state->connections.erase(number);
          state->on_main([number](Handlers& on) { on.on_closed(number); });
        });
    state->connections[number] = connection;
    connection->accept(upgrade, protocol);
  });
  return number;
}

void WebSocketThread::send_text(std::uint64_t connection, std::string text) {
  state_->send(connection, false, std::move(text));
}

void WebSocketThread::send_binary(std::uint64_t connection, std::string bytes) {
  state_->send(connection, true, std::move(bytes));
}

void WebSocketThread::close(std::uint64_t connection) {
  boost::asio::post(state_->io, [state = state_.get(), connection] {
    const auto found = state->connections.find(connection);
    if (found == state->connections.end()) return;
    const auto open = found->second;
    open->end();
  });
}

bool is_web_socket_upgrade(const HttpRequest& request) {
  return websocket::is_upgrade(make_request(request));
}

}  // namespace service
