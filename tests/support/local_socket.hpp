#pragma once

#include <cstdint>

namespace test_support {

/// A socket that listens at 127.0.0.1. Closed with the object.
class LocalListener {
 public:
  /// @param port  0: chosen by the kernel
  /// @throws std::runtime_error
  explicit LocalListener(std::uint16_t port = 0);
  ~LocalListener();
  LocalListener(const LocalListener&) = delete;
  LocalListener& operator=(const LocalListener&) = delete;

  int socket() const { return socket_; }
  std::uint16_t port() const { return port_; }

  /// Accepts a waiting connection. @return its descriptor
  int accept() const;

 private:
  int socket_ = -1;
  std::uint16_t port_ = 0;
};

/// Connects to a port of 127.0.0.1. Written bytes are sent at once.
/// @return the descriptor, -1 if nobody listens there
int connect_locally(std::uint16_t port);

/// True if there is something to read, or the end of the connection.
bool readable(int socket, int timeout_ms = 0);

}  // namespace test_support
