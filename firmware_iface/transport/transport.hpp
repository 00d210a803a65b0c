#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace firmware_iface {

using Nanoseconds = std::chrono::nanoseconds;

/// Highest rate of any line [baud].
inline constexpr int kBaudRateMax = 12'000'000;

enum class IoStatus {
  kOk,
  kTimeout,  ///< no data by the deadline; for writing: the kernel's buffer was full
  kClosed,   ///< the other end or the port is gone, or close() was called; permanent
};

struct IoResult {
  IoStatus status = IoStatus::kOk;
  std::size_t size_bytes = 0;  ///< bytes read or written, for any status
};

/// Description of an open transport, with the timing settings that the system granted.
struct TransportReport {
  std::string description;              ///< e.g. "serial port /dev/ttyUSB0, 921600 baud, 8N1"
  std::optional<int> baud_rate;         ///< of the line; empty if no baud rate limits it
  std::vector<std::string> notes = {};  ///< one sentence each, e.g. "latency_timer: 1 ms (was 16)"
};

/// A byte stream to one conversion unit. All functions except construction and report() are
/// real-time safe: no allocation, no locks, no exceptions. Not thread-safe.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// Returns the present time on the clock of all deadlines: CLOCK_MONOTONIC, or the virtual time
  /// of a simulation.
  virtual Nanoseconds now() const noexcept = 0;

  /// Waits until at least one byte is available or `deadline` (absolute, in terms of now()) has
  /// passed, and reads the available bytes. With a deadline in the past, it only polls.
  virtual IoResult read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept = 0;

  /// Passes bytes to the line without waiting. If not all bytes are accepted (status kTimeout), the
  /// rest is dropped and the receiver gets a damaged frame. A late frame would be just as useless.
  virtual IoResult write(std::span<const std::uint8_t> bytes) noexcept = 0;

  /// Closes the connection. Later reads and writes return kClosed.
  virtual void close() noexcept = 0;

  virtual const TransportReport& report() const noexcept = 0;
};

}  // namespace firmware_iface
