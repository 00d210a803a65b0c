#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "firmware_iface/link/frame_decoder.hpp"
#include "firmware_iface/wire/command.h"
#include "firmware_iface/wire/sample.h"
#include "tests/support/local_socket.hpp"

namespace test_support {

/// Effect of the relay on the line.
enum class LineMode {
  kPass,
  kHold,         ///< the line stays open, but nothing passes in either direction
  kDamage,       ///< flips a bit in every frame, both ways
  kLoseChannel,  ///< marks channel 1 of every sample as invalid, with a correct checksum
};

/// Alterations of samples and commands, whose frames stay valid. Empty functions alter nothing.
struct LineLies {
  std::function<void(sample_report&)> sample;
  std::function<void(command_request&)> command;
  std::function<std::chrono::nanoseconds()> sample_delay;   ///< of the sample just altered
  std::function<std::chrono::nanoseconds()> command_delay;  ///< of the command just altered
};

/// A TCP line between a host and a simulated unit, with faults that a test switches. Relays on a
/// thread of its own, for one host at a time.
class LineRelay {
 public:
  /// @param unit_port  of a unit on this machine
  /// @param lies       called on the relay's thread
  explicit LineRelay(std::uint16_t unit_port, LineLies lies = {});
  ~LineRelay();
  LineRelay(const LineRelay&) = delete;
  LineRelay& operator=(const LineRelay&) = delete;

  std::string url() const { return "tcp://127.0.0.1:" + std::to_string(listener_.port()); }
  /// Breaks the line once, directly after the first sample that shows an enabled output.
  void break_when_driven(LineMode mode) { mode_when_driven_.store(mode); }
  bool is_broken() const { return mode_.load() != LineMode::kPass; }
  /// Returns the flags of the last command that passed the line.
  std::uint8_t last_command_flags() const { return last_command_flags_.load(); }

 private:
  using Clock = std::chrono::steady_clock;
  enum Direction { kToUnit, kToHost };

  struct HeldFrame {
    Clock::time_point due;
    std::vector<std::uint8_t> bytes;
  };

  void serve();
  void relay(int host, int unit);
  int wait_ms() const;
  bool take(int from, Direction direction);
  bool pass_due(int to, Direction direction);
  std::vector<std::uint8_t> damaged(std::span<const std::uint8_t> bytes, Direction direction);
  HeldFrame altered(std::span<const std::uint8_t> message, Direction direction);

  std::uint16_t unit_port_;
  LineLies lies_;
  LocalListener listener_;
  std::atomic<LineMode> mode_{LineMode::kPass};
  std::atomic<LineMode> mode_when_driven_{LineMode::kPass};
  std::atomic<std::uint8_t> last_command_flags_{0};
  std::atomic<bool> stop_{false};
  std::array<bool, 2> after_delimiter_{};  // by direction: the next byte starts a frame
  std::array<firmware_iface::FrameDecoder, 2> decoders_;
  std::array<std::deque<HeldFrame>, 2> held_;
  std::thread thread_;
};

}  // namespace test_support
