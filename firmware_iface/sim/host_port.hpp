#pragma once

#include <memory>
#include <string>

#include "firmware_iface/result.hpp"
#include "firmware_iface/transport/transport.hpp"

namespace firmware_iface::sim {

/// The unit's side of a connection to a host, which may connect and disconnect.
class HostPort {
 public:
  HostPort() = default;
  HostPort(const HostPort&) = delete;
  HostPort& operator=(const HostPort&) = delete;
  virtual ~HostPort() = default;

  /// Reads bytes from the host, waiting until `deadline` (CLOCK_MONOTONIC). Returns their number.
  virtual std::size_t read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept = 0;

  /// Writes bytes to the host. Bytes that are not accepted at once are lost, as on a serial line.
  /// Returns the number of accepted bytes.
  virtual std::size_t write(std::span<const std::uint8_t> bytes) noexcept = 0;

  /// Returns the URL that a host opens.
  virtual const std::string& url() const noexcept = 0;
};

/// Creates a pseudo-terminal. If `link` is not empty, it is a symbolic link to the terminal until
/// the port is destroyed. A dangling link of an earlier run is replaced, anything else is not.
Result<std::unique_ptr<HostPort>> make_pty_port(const std::string& link);

/// Creates a TCP server on "host:port" or "port" (loopback), for one host; port 0: a free one.
Result<std::unique_ptr<HostPort>> make_tcp_port(const std::string& address);

}  // namespace firmware_iface::sim
