#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/firmware/host_line.hpp"
#include "tests/integration/child_process.hpp"

namespace test_support {

/// Faults that the emulated board can be commanded to show, as in firmware/board/qemu/board_qemu.c.
enum class Misbehaviour : std::uint8_t {
  kNone,
  kHang,                  ///< the tick does not end
  kUndefinedInstruction,  ///< the processor faults
  kBadAddress,            ///< the processor faults
  kUnhandledInterrupt,
  kDriverFault,  ///< the power stage reports a fault
  kReset,        ///< from outside the firmware, as by the independent watchdog
};

/// Inputs of the board at a tick.
struct BoardInputs {
  std::array<std::int32_t, 2> encoder_counts{};  ///< 0: position at the board's start
  std::uint8_t index_passed = 0;                 ///< bit i: encoder i
  std::uint8_t home_closed = 0;
  Misbehaviour misbehaviour = Misbehaviour::kNone;
};

/// Outputs of the board.
struct BoardOutput {
  bool is_enabled = false;
  std::int16_t command_q15 = 0;
};

/// The firmware's image under qemu-system-arm. The unit's serial line is a TCP port. Counts and
/// output travel over a second line, which this object uses to give the unit its ticks. QEMU is
/// killed with the object, or when the process ends.
class QemuUnit {
 public:
  static constexpr std::chrono::microseconds kTick{2000};  ///< of the unit's clock

  struct Settings {
    std::string log_path;       ///< file for QEMU's messages
    std::uint16_t port = 0;     ///< of the unit's serial line; 0: chosen by the kernel
    bool in_real_time = false;  ///< requests a real-time priority, and stays on one processor
    std::vector<std::string> options = {};  ///< further arguments of QEMU
  };

  /// Boots the image and waits until it answers a tick.
  /// @throws std::runtime_error
  explicit QemuUnit(const Settings& settings);
  ~QemuUnit();
  QemuUnit(const QemuUnit&) = delete;
  QemuUnit& operator=(const QemuUnit&) = delete;

  std::uint16_t port() const { return host_line_->port(); }
  std::string url() const { return "tcp://127.0.0.1:" + std::to_string(port()); }

  /// Bytes from the port that the unit has received or lost.
  std::uint64_t bytes_to_unit() const { return host_line_->bytes_to_unit(); }

  /// Runs one tick. Empty if no answer comes within the time.
  std::optional<BoardOutput> tick(const BoardInputs& inputs,
                                  std::chrono::milliseconds patience = std::chrono::seconds(20));

  /// The next output that the board reports without a tick.
  std::optional<BoardOutput> next_output(std::chrono::milliseconds patience);

  /// Ticks until one is answered, as after a reset of the unit, whose line then loses bytes.
  /// @throws std::runtime_error  if none is within 20 s
  void wait_until_up(const BoardInputs& inputs = {});

  bool is_running() { return !process_->wait(0.0); }
  std::string log() const { return process_->output(); }

 private:
  struct Answer {
    BoardOutput output;
    std::uint8_t number = 0;
  };

  void send(const BoardInputs& inputs);
  std::optional<Answer> read_answer(std::chrono::steady_clock::time_point end);

  int line_ = -1;                         // the board's
  std::array<std::int32_t, 2> counts_{};  // of the newest tick
  std::uint8_t number_ = 0;               // of the newest tick, 0 to 127
  std::vector<std::uint8_t> received_;
  std::unique_ptr<ChildProcess> process_;
  std::unique_ptr<HostLine> host_line_;
};

}  // namespace test_support
