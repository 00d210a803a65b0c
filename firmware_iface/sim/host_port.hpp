#pragma once

#include <memory>
#include <string>

#include "firmware_iface/result.hpp"
#include "firmware_iface/transport/transport.hpp"

namespace firmware_iface::sim {

/// The unit's end of a connection to a host. The host may connect and disconnect.
class HostConnection {
 public:
  HostConnection() = default;
  HostConnection(const HostConnection&) = delete;
  HostConnection& operator=(const HostConnection&) = delete;
  virtual ~HostConnection() = default;

  /// Reads bytes from the host, waiting until `deadline` (CLOCK_MONOTONIC). Returns their number.
  virtual std::size_t read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept = 0;

  /// Writes bytes to the host. Bytes that are not accepted at once are lost, as on a serial line.
  /// Returns the number of accepted bytes.
  virtual std::size_t write(std::span<const std::uint8_t> bytes) noexcept = 0;

  /// Returns the URL that a host opens.
  virtual const std::string& url() const noexcept = 0;
};

/// Creates a pseudo-terminal. A nonempty `link` is the path of a symbolic link to the terminal that
/// exists until the port is destroyed. A dangling link of an earlier run is replaced; any other
/// existing file is an error.
Result<std::unique_ptr<HostConnection>> make_pty_port(const std::string& link);

/// Creates a TCP server for one host at the address "host:port" or "port" (loopback). Port 0 means
/// any free port.
Result<std::unique_ptr<HostConnection>> make_tcp_port(const std::string& address);

}  // namespace firmware_iface::sim
