#include "tests/support/local_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace test_support {
namespace {

sockaddr_in local_address(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

void send_at_once(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

LocalListener::LocalListener(std::uint16_t port)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = local_address(port);
  const int on = 1;
  ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (socket_ < 0 || ::bind(socket_, generic, size) != 0 || ::listen(socket_, 4) != 0 ||
      ::getsockname(socket_, generic, &size) != 0) {
    throw std::runtime_error("cannot listen at a port of 127.0.0.1");
  }
  port_ = ntohs(address.sin_port);
}

LocalListener::~LocalListener() { ::close(socket_); }

int LocalListener::accept() const {
  const int connection = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
  send_at_once(connection);
  return connection;
}

int connect_locally(std::uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = local_address(port);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(socket);
    return -1;
  }
  send_at_once(socket);
  return socket;
}

bool readable(int socket, int timeout_ms) {
  pollfd wait{socket, POLLIN, 0};
  return ::poll(&wait, 1, timeout_ms) > 0;
}

}  // namespace test_support
