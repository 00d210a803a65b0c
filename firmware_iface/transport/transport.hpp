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

/// Of any line [baud].
inline constexpr int kBaudRateMax = 12'000'000;

enum class IoStatus {
  kOk,
  kTimeout,  ///< nothing arrived by the deadline; or, writing, the kernel's buffer was full
  kClosed,   ///< the other end or the port is gone, or close() was called; it stays so
};

struct IoResult {
  IoStatus status = IoStatus::kOk;
  std::size_t size_bytes = 0;  ///< bytes read or accepted, whatever the status
};

/// What was opened, and which of the settings that matter for timing were granted.
struct TransportReport {
  std::string description;              ///< e.g. "serial port /dev/ttyUSB0, 921600 baud, 8N1"
  std::optional<int> baud_rate;         ///< of the line; empty where bytes are not paced by one
  std::vector<std::string> notes = {};  ///< one sentence each, e.g. "latency_timer: 1 ms (was 16)"
};

/// A byte stream to one conversion unit. Everything here but construction and report() may be
/// called on the real-time thread: no allocation, no locks, no exceptions. One thread at a time.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// The clock that deadlines refer to: CLOCK_MONOTONIC, or the virtual time of a simulation.
  virtual Nanoseconds now() const noexcept = 0;

  /// Waits until at least one byte is there or `deadline` (absolute, in terms of now()) has passed,
  /// and reads what is there. A deadline in the past polls.
  virtual IoResult read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept = 0;

  /// Hands bytes to the line without waiting. Where not all are accepted (status kTimeout) the
  /// rest is dropped: the receiver sees a damaged frame, which is what a late one is worth.
  virtual IoResult write(std::span<const std::uint8_t> bytes) noexcept = 0;

  /// Ends the connection. Reads and writes return kClosed from then on.
  virtual void close() noexcept = 0;

  virtual const TransportReport& report() const noexcept = 0;
};

}  // namespace firmware_iface
