#pragma once

#include <cstdint>

namespace test_support {

/// TCP socket that listens at 127.0.0.1 during this object's lifetime.
class LocalListener {
 public:
  /// @param port  port number; 0: the kernel chooses one
  /// @throws std::runtime_error if it cannot listen
  explicit LocalListener(std::uint16_t port = 0);
  ~LocalListener();
  LocalListener(const LocalListener&) = delete;
  LocalListener& operator=(const LocalListener&) = delete;

  int socket() const { return socket_; }
  std::uint16_t port() const { return port_; }

  /// Accepts a waiting connection.
  /// @return file descriptor of the connection
  int accept() const;

 private:
  int socket_ = -1;
  std::uint16_t port_ = 0;
};

/// Connects to a port of 127.0.0.1, with data sent without delay.
/// @return file descriptor, or -1 if no program listens at the port
int connect_locally(std::uint16_t port);

/// Returns whether a socket has data to read or has reached the end of its connection. Waits at
/// most `timeout_ms`.
bool readable(int socket, int timeout_ms = 0);

}  // namespace test_support
