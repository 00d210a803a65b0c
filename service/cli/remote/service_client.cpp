#include "service/cli/remote/service_client.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <asio/ssl/context.hpp>
#include <asio/ssl/error.hpp>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <iostream>
#include <utility>

#include "proto/stream/service_limits.hpp"
#include "proto/tls/tls.hpp"
#include "service/result/result_message.hpp"

namespace service {
namespace {

constexpr int kWriteTimeout_s = 30;

// Sends requests without delay, and detects a dead service machine after a minute.
void set_options(int socket) {
  const auto set = [socket](int level, int option, int value) {
    ::setsockopt(socket, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

/// Connects a socket to an address. @return the socket, or -1 with the reason in `why`
int connect_to(int family, const sockaddr* address, socklen_t size, std::string& why) {
  const int socket = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  const timeval limit{kWriteTimeout_s, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);  // also limits connect()
  if (::connect(socket, address, size) == 0) return socket;
  why = std::strerror(errno);
  ::close(socket);
  return -1;
}

int connect_to(const proto::ServiceLocation& to, std::string& why) {
  if (!to.unix_path.empty()) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    to.unix_path.copy(address.sun_path, sizeof address.sun_path - 1);
    return connect_to(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address, why);
  }
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(to.network.host.c_str(), std::to_string(to.network.port).c_str(),
                                  &wanted, &found);
  if (error != 0) {
    why = ::gai_strerror(error);
    return -1;
  }
  int connected = -1;
  for (const addrinfo* at = found; at != nullptr && connected < 0; at = at->ai_next) {
    connected = connect_to(at->ai_family, at->ai_addr, at->ai_addrlen, why);
  }
  ::freeaddrinfo(found);
  if (connected >= 0) set_options(connected);
  return connected;
}

using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;

constexpr int kReplyTimeout_ms = 60'000;

bool is_notification(const ServiceReply& reply) {
  switch (reply.reply_case()) {
    case ServiceReply::kJobUpdate:
    case ServiceReply::kLiveBatch:
    case ServiceReply::kLiveDropped:
    case ServiceReply::kLiveEnded:
      return true;
    default:
      return false;
  }
}

}  // namespace

/// Checked address of the service, with the TLS files loaded.
struct ServiceEndpoint {
  /// @throws proto::InputError for an invalid address or an unusable TLS file
  explicit ServiceEndpoint(const ServiceAddress& address)
      : host_port(address.host_port), place(proto::parse_service_address(address.host_port)) {
    if (!proto::has_tls_certificate(address.tls)) return;
    if (!place.unix_path.empty()) {
      throw proto::InputError(
          "{}: a Unix socket does not use TLS; omit --tls-cert, --tls-key and --tls-ca", host_port);
    }
    tls = std::make_shared<asio::ssl::context>(proto::make_client_tls(address.tls));
  }

  std::string host_port;  ///< address as the user gave it, for messages
  proto::ServiceLocation place;
  std::shared_ptr<asio::ssl::context> tls;  ///< null: connection without TLS
};

/// Blocking connection to a service. All functions throw proto::InputError if the service cannot be
/// reached, its certificate does not match, or the connection breaks.
class ServiceSocket {
 public:
  explicit ServiceSocket(const ServiceEndpoint& endpoint) : endpoint_(endpoint) {
    std::string why;
    socket_ = connect_to(endpoint_.place, why);
    if (socket_ < 0) {
      throw proto::InputError(
          "no service at {}: {}; start rigcald, or give another address with --server",
          endpoint_.host_port, why);
    }
    if (endpoint_.tls) shake_hands();
  }

  ~ServiceSocket() {
    tls_.reset();
    if (socket_ >= 0) ::close(socket_);
  }
  ServiceSocket(const ServiceSocket&) = delete;
  ServiceSocket& operator=(const ServiceSocket&) = delete;

  /// Sends all bytes.
  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t count = 0;
      if (tls_) {
        count = ::SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size()));
        if (count <= 0) fail(tls_trouble(static_cast<int>(count)));
      } else {
        count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail(std::strerror(errno));
      }
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  /// Waits for bytes and reads them.
  /// @return number of bytes read; 0 after the timeout
  std::size_t read(std::span<std::uint8_t> bytes, int timeout_ms) {
    if (!tls_ || ::SSL_pending(tls_.get()) == 0) {
      pollfd wait{socket_, POLLIN, 0};
      if (::poll(&wait, 1, timeout_ms) <= 0) return 0;
    }
    ssize_t count = 0;
    if (tls_) {
      count = ::SSL_read(tls_.get(), bytes.data(), static_cast<int>(bytes.size()));
      if (count <= 0) fail(tls_trouble(static_cast<int>(count)));
    } else {
      count = ::recv(socket_, bytes.data(), bytes.size(), 0);
      if (count < 0 && errno == EINTR) return 0;
      if (count < 0) fail(std::strerror(errno));
      if (count == 0) fail("it was closed");
    }
    received_any_ = true;
    return static_cast<std::size_t>(count);
  }

 private:
  void shake_hands() {
    ::signal(SIGPIPE, SIG_IGN);  // OpenSSL cannot disable SIGPIPE for its writes
    tls_.reset(::SSL_new(endpoint_.tls->native_handle()));
    proto::require_peer_host(tls_.get(), endpoint_.place.network.host);
    ::SSL_set_fd(tls_.get(), socket_);
    const timeval limit{kWriteTimeout_s, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    const int result = ::SSL_connect(tls_.get());
    if (result == 1) return;
    throw proto::InputError("no connection to the service at {}: {}", endpoint_.host_port,
                            tls_trouble(result));
  }

  std::string tls_trouble(int result) const {
    const int error_number = errno;
    const int kind = ::SSL_get_error(tls_.get(), result);
    if (kind == SSL_ERROR_SSL) {
      const auto code = static_cast<int>(::ERR_get_error());
      return proto::describe_tls_problem(tls_.get(),
                                         asio::error_code(code, asio::error::get_ssl_category()));
    }
    if (kind == SSL_ERROR_SYSCALL && error_number != 0) return std::strerror(error_number);
    return kind == SSL_ERROR_WANT_READ ? "it does not answer" : "it was closed";
  }

  [[noreturn]] void fail(const std::string& what) const {
    std::string text =
        "the connection to the service at " + endpoint_.host_port + " broke: " + what;
    // A TLS service closes the connection if the client does not start TLS. It rejects the client's
    // certificate before it sends anything else.
    if (received_any_) {
      text += "; it is safe to retry";
    } else if (!tls_) {
      text += "; if the service requires TLS, give --tls-cert, --tls-key and --tls-ca";
    }
    throw proto::InputError(text);
  }

  const ServiceEndpoint& endpoint_;
  int socket_ = -1;
  bool received_any_ = false;  // something was received from the service
  std::unique_ptr<SSL, decltype(&::SSL_free)> tls_{nullptr, &::SSL_free};
};

ServiceClient::ServiceClient(const ServiceEndpoint& endpoint)
    : socket_(std::make_unique<ServiceSocket>(endpoint)), decoder_(proto::service_reply_limits()) {
  ServiceRequest hello;
  hello.mutable_hello()->set_protocol_version(proto::kServiceVersion);
  hello.mutable_hello()->set_client(std::string("rigcal ") + RIGCAL_VERSION);
  if (!call(hello).has_welcome())
    throw proto::InputError("the service did not answer Hello with Welcome");
}

ServiceClient::~ServiceClient() = default;

std::optional<ServiceReply> ServiceClient::receive_reply(int timeout_ms) {
  while (frames_.empty()) {
    const std::size_t count = socket_->read(input_, timeout_ms);
    if (count == 0) return std::nullopt;
    std::vector<proto::Frame> frames;
    const proto::Status fed = decoder_.feed(std::span(input_).first(count), frames);
    if (!fed.ok())
      throw proto::InputError("the service violates the protocol: " + fed.error().detail);
    for (proto::Frame& frame : frames) frames_.push_back(std::move(frame));
  }
  ServiceReply reply;
  const proto::Frame frame = std::move(frames_.front());
  frames_.pop_front();
  const auto parsed = proto::parse_frame(frame, proto::service_reply_limits(), reply);
  if (!parsed.ok()) {
    throw proto::InputError("the service violates the protocol: " + parsed.error().detail);
  }
  return reply;
}

ServiceReply ServiceClient::call(const ServiceRequest& request) {
  std::string bytes;
  const auto framed = proto::append_frame(request, proto::service_request_limits(), bytes);
  if (!framed.ok()) throw proto::InputError(framed.error().detail);
  socket_->write(bytes);
  while (auto reply = receive_reply(kReplyTimeout_ms)) {
    if (reply->has_error()) throw ServiceReplyError(reply->error());
    if (!is_notification(*reply)) return std::move(*reply);
    notifications_.push_back(std::move(*reply));
  }
  throw proto::InputError("the service did not answer within {} s", kReplyTimeout_ms / 1000);
}

std::optional<ServiceReply> ServiceClient::wait(int timeout_ms) {
  if (notifications_.empty()) return receive_reply(timeout_ms);
  ServiceReply next = std::move(notifications_.front());
  notifications_.pop_front();
  return next;
}

void ServiceClient::read_file(const std::function<ServiceRequest(std::uint64_t)>& request,
                              const std::function<void(const rigcal::v1::FilePart&)>& take) {
  std::uint64_t offset = 0;
  while (true) {
    const ServiceReply reply = call(request(offset));
    if (reply.file_part().data().empty()) return;
    take(reply.file_part());
    offset += reply.file_part().data().size();
    if (offset >= reply.file_part().file_size_bytes()) return;
  }
}

CLI::Option* add_service_options(CLI::App& command, ServiceAddress& address) {
  const std::string group = "Service";
  auto* server =
      command.add_option("--server", address.host_port,
                         "Address of the service. Default: unix:$XDG_RUNTIME_DIR/rigcald.sock, "
                         "or unix:/run/rigcald/rigcald.sock if that socket does not exist");
  server->envname("RIGCAL_SERVER")->type_name("unix:/PATH|HOST:PORT")->group(group);
  auto* certificate = command.add_option("--tls-cert", address.tls.certificate,
                                         "This client's certificate, PEM; turns TLS on");
  auto* key = command.add_option("--tls-key", address.tls.private_key, "Its private key, PEM");
  auto* authority =
      command.add_option("--tls-ca", address.tls.authority, "Authority of the service, PEM");
  certificate->envname("RIGCAL_TLS_CERT")->type_name("FILE")->group(group);
  key->envname("RIGCAL_TLS_KEY")->type_name("FILE")->group(group);
  authority->envname("RIGCAL_TLS_CA")->type_name("FILE")->group(group);
  return server;
}

ExitCode run_with_service(const ServiceAddress& address,
                          const std::function<ExitCode(ServiceClient&)>& work) {
  const ServiceEndpoint endpoint(address);
  try {
    ServiceClient client(endpoint);
    return work(client);
  } catch (const proto::InputError& error) {
    std::cerr << "rigcal: " << error.what() << '\n';
    return kServiceTrouble;
  }
}

void print_message_json(const google::protobuf::Message& message) {
  std::cout << format_message_json(message);
}

std::string format_local_time(std::int64_t unix_ns) {
  if (unix_ns == 0) return "-";
  const auto seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts)};
}

}  // namespace service
