#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "firmware_iface/link/frame_decoder.hpp"
#include "tests/support/local_socket.hpp"

namespace test_support {

/// Effect of the relay on the line.
enum class LineMode {
  kPass,
  kHold,         ///< the line stays open, but nothing passes in either direction
  kDamage,       ///< flips a bit in every frame, both ways
  kLoseChannel,  ///< marks channel 1 of every sample as invalid, with a correct checksum
};

/// A TCP line between a host and a simulated unit, with faults that a test switches. Relays on a
/// thread of its own, for one host at a time.
class LineRelay {
 public:
  /// @param unit_port  of a unit on this machine
  explicit LineRelay(std::uint16_t unit_port);
  ~LineRelay();
  LineRelay(const LineRelay&) = delete;
  LineRelay& operator=(const LineRelay&) = delete;

  std::string url() const { return "tcp://127.0.0.1:" + std::to_string(listener_.port()); }
  void set_mode(LineMode mode) { mode_.store(mode); }

 private:
  enum Direction { kToUnit, kToHost };

  void serve();
  void relay(int host, int unit);
  bool forward(int from, int to, Direction direction);
  std::vector<std::uint8_t> treated(std::span<const std::uint8_t> bytes, Direction direction);

  std::uint16_t unit_port_;
  LocalListener listener_;
  std::atomic<LineMode> mode_{LineMode::kPass};
  std::atomic<bool> stop_{false};
  std::array<bool, 2> after_delimiter_{};  // by direction: the next byte starts a frame
  firmware_iface::FrameDecoder from_unit_;
  std::thread thread_;
};

}  // namespace test_support
