#pragma once

#include <span>
#include <string>
#include <utility>

#include "firmware_iface/transport/transport.hpp"

namespace firmware_iface {

/// Owns a file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const noexcept { return fd_; }
  bool is_open() const noexcept { return fd_ >= 0; }
  void reset() noexcept;

 private:
  int fd_ = -1;
};

/// Returns the time of CLOCK_MONOTONIC.
Nanoseconds monotonic_now() noexcept;

/// Waits until a file descriptor is readable or hung up, or the deadline (CLOCK_MONOTONIC) has
/// passed. Returns kOk if a read will not block.
IoStatus wait_until_readable(int fd, Nanoseconds deadline) noexcept;

/// Kind of a file descriptor. Writing to a closed socket raises no SIGPIPE.
enum class DescriptorKind { kTerminal, kSocket };

/// Read from, or write to, a non-blocking file descriptor, with the results of Transport::read_some
/// and Transport::write.
IoResult read_descriptor(int fd, std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept;
IoResult write_descriptor(int fd, DescriptorKind kind,
                          std::span<const std::uint8_t> bytes) noexcept;

/// Returns the text of an errno value: "Permission denied (13)".
std::string describe_errno(int error_number);

}  // namespace firmware_iface
