#include "service/client/remote/service_socket.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "proto/text/input_error.hpp"

namespace service {
namespace {

constexpr int kWriteTimeout_s = 30;

struct HostPort {
  std::string host;
  std::string port;
};

HostPort split(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    throw proto::InputError("'" + text + "' is no address; write HOST:PORT, e.g. 127.0.0.1:7330");
  }
  HostPort parts{text.substr(0, colon), text.substr(colon + 1)};
  if (parts.host.size() > 2 && parts.host.front() == '[' && parts.host.back() == ']') {
    parts.host = parts.host.substr(1, parts.host.size() - 2);
  }
  return parts;
}

int connect_to(const HostPort& to, std::string& why) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(to.host.c_str(), to.port.c_str(), &wanted, &found);
      error != 0) {
    why = ::gai_strerror(error);
    return -1;
  }
  int connected = -1;
  for (const addrinfo* at = found; at != nullptr && connected < 0; at = at->ai_next) {
    const int socket = ::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) continue;
    const timeval limit{kWriteTimeout_s, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);  // of connect() too
    if (::connect(socket, at->ai_addr, at->ai_addrlen) == 0) {
      connected = socket;
    } else {
      why = std::strerror(errno);
      ::close(socket);
    }
  }
  ::freeaddrinfo(found);
  const int on = 1;
  if (connected >= 0) ::setsockopt(connected, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return connected;
}

std::string tls_error() {
  const unsigned long code = ::ERR_get_error();
  if (code == 0) return "the connection ended";
  char text[256];
  ::ERR_error_string_n(code, text, sizeof text);
  return text;
}

}  // namespace

struct ServiceSocket::Tls {
  SSL_CTX* context = nullptr;
  SSL* session = nullptr;
  ~Tls() {
    ::SSL_free(session);
    ::SSL_CTX_free(context);
  }
};

ServiceSocket::ServiceSocket(const ServiceAddress& address) : where_(address.host_port) {
  const HostPort to = split(address.host_port);
  std::string why;
  socket_ = connect_to(to, why);
  if (socket_ < 0) {
    throw proto::InputError("no service at " + where_ + ": " + why +
                            "; start rigcald or name another with --server");
  }
  if (address.certificate.empty()) return;
  tls_ = std::make_unique<Tls>();
  tls_->context = ::SSL_CTX_new(::TLS_client_method());
  ::SSL_CTX_set_min_proto_version(tls_->context, TLS1_2_VERSION);
  ::SSL_CTX_set_verify(tls_->context, SSL_VERIFY_PEER, nullptr);
  if (::SSL_CTX_use_certificate_chain_file(tls_->context, address.certificate.c_str()) != 1) {
    throw proto::InputError(address.certificate + ": cannot be used: " + tls_error());
  }
  if (::SSL_CTX_use_PrivateKey_file(tls_->context, address.private_key.c_str(), SSL_FILETYPE_PEM) !=
      1) {
    throw proto::InputError(address.private_key + ": cannot be used: " + tls_error());
  }
  if (::SSL_CTX_load_verify_locations(tls_->context, address.authority.c_str(), nullptr) != 1) {
    throw proto::InputError(address.authority + ": cannot be used: " + tls_error());
  }
  tls_->session = ::SSL_new(tls_->context);
  X509_VERIFY_PARAM* expected = ::SSL_get0_param(tls_->session);
  if (::X509_VERIFY_PARAM_set1_ip_asc(expected, to.host.c_str()) != 1) {
    ::SSL_set1_host(tls_->session, to.host.c_str());
    ::SSL_set_tlsext_host_name(tls_->session, to.host.c_str());
  }
  ::SSL_set_fd(tls_->session, socket_);
  if (::SSL_connect(tls_->session) != 1) fail("TLS: " + tls_error());
}

ServiceSocket::~ServiceSocket() {
  tls_.reset();
  if (socket_ >= 0) ::close(socket_);
}

void ServiceSocket::fail(const std::string& what) const {
  throw proto::InputError("the connection to the service at " + where_ + " broke: " + what +
                          "; nothing is lost by trying again");
}

void ServiceSocket::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = 0;
    if (tls_) {
      count = ::SSL_write(tls_->session, bytes.data(), static_cast<int>(bytes.size()));
      if (count <= 0) fail(tls_error());
    } else {
      count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail(std::strerror(errno));
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::size_t ServiceSocket::read(std::span<std::uint8_t> bytes, int timeout_ms) {
  if (!tls_ || ::SSL_pending(tls_->session) == 0) {
    pollfd wait{socket_, POLLIN, 0};
    if (::poll(&wait, 1, timeout_ms) <= 0) return 0;
  }
  ssize_t count = 0;
  if (tls_) {
    count = ::SSL_read(tls_->session, bytes.data(), static_cast<int>(bytes.size()));
    if (count <= 0) fail(tls_error());
  } else {
    count = ::recv(socket_, bytes.data(), bytes.size(), 0);
    if (count < 0 && errno == EINTR) return 0;
    if (count < 0) fail(std::strerror(errno));
    if (count == 0) fail("it was closed");
  }
  return static_cast<std::size_t>(count);
}

}  // namespace service
