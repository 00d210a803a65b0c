#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/support/local_socket.hpp"

namespace test_support {

/// The emulated unit's serial line as a TCP port for one host at a time. QEMU writes byte by byte.
/// The host gets whole frames, since a busy machine delays the many one-byte packets. Bytes without
/// a reader are lost, as on a serial line. Works on a thread of its own.
class HostLine {
 public:
  /// @param unit  connected socket with QEMU at the other end; closed with the object
  /// @param port  0: chosen by the kernel
  HostLine(int unit, std::uint16_t port);
  ~HostLine();
  HostLine(const HostLine&) = delete;
  HostLine& operator=(const HostLine&) = delete;

  std::uint16_t port() const { return listener_.port(); }

  /// Bytes from hosts that the unit has received or lost.
  std::uint64_t bytes_to_unit() const;

 private:
  void run();
  void accept_host();
  void forward_to_unit();
  void forward_to_host();

  int unit_;
  int host_ = -1;
  LocalListener listener_;
  std::vector<std::uint8_t> frames_;  // sent by the unit since the last whole frame
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// Requests real-time priority. A unit keeps time whatever else happens, and on a busy machine its
/// emulation needs this. Without the permission it has the jitter of any program.
void ask_for_real_time(int priority);

}  // namespace test_support
