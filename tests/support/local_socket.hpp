#pragma once

#include <cstdint>

namespace test_support {

/// A socket that listens at 127.0.0.1. Closed with the object.
class LocalListener {
 public:
  /// @param port  0: one that the kernel chooses
  /// @throws std::runtime_error
  explicit LocalListener(std::uint16_t port = 0);
  ~LocalListener();
  LocalListener(const LocalListener&) = delete;
  LocalListener& operator=(const LocalListener&) = delete;

  int socket() const { return socket_; }
  std::uint16_t port() const { return port_; }

  /// Takes a connection that is there. @return its descriptor
  int accept() const;

 private:
  int socket_ = -1;
  std::uint16_t port_ = 0;
};

/// Connects to a port of 127.0.0.1; what is written goes out at once.
/// @return the descriptor, -1 if nobody listens there
int connect_locally(std::uint16_t port);

/// True when there is something to read, or the end of it.
bool readable(int socket, int timeout_ms = 0);

}  // namespace test_support
