#pragma once

#include <memory>
#include <string>

#include "firmware_iface/result.hpp"
#include "firmware_iface/transport/transport.hpp"

namespace firmware_iface::sim {

/// The unit's side of a connection to a host that comes and goes.
class HostPort {
 public:
  HostPort() = default;
  HostPort(const HostPort&) = delete;
  HostPort& operator=(const HostPort&) = delete;
  virtual ~HostPort() = default;

  /// Bytes from the host, waiting until `deadline` (CLOCK_MONOTONIC); 0 when there are none.
  virtual std::size_t read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept = 0;

  /// Bytes to the host. Those that cannot be handed over at once are lost, as on a serial line;
  /// returns how many.
  virtual std::size_t write(std::span<const std::uint8_t> bytes) noexcept = 0;

  /// The URL a host opens.
  virtual const std::string& url() const noexcept = 0;
};

/// A pseudo-terminal. Unless `link` is empty, that path leads to it until the port is destroyed;
/// a dangling symbolic link left there by an earlier run is replaced, anything else is not.
Result<std::unique_ptr<HostPort>> make_pty_port(const std::string& link);

/// A TCP server on "host:port" or "port" (of the loopback interface), one host at a time; port 0
/// picks a free one.
Result<std::unique_ptr<HostPort>> make_tcp_port(const std::string& address);

}  // namespace firmware_iface::sim
