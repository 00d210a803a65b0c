#pragma once

#include <functional>
#include <string>
#include <vector>

#include "firmware_iface/firmware/core/unit.h"
#include "firmware_iface/link/frame_decoder.hpp"
#include "firmware_iface/transport/transport.hpp"

namespace firmware_iface {

/// Injected faults of a unit: each function may change the data passed to it. With all functions
/// empty the unit is correct.
struct BoardFault {
  /// Called with each frame from the host, without delimiter, before it is read. False drops it.
  std::function<bool(unit& core, std::vector<std::uint8_t>& frame)> before_frame = {};
  /// Called with each good message from the host, before and after the core handles it.
  std::function<void(unit& core, std::vector<std::uint8_t>& message)> before_message = {};
  std::function<void(unit& core, const std::vector<std::uint8_t>& message)> after_message = {};
  std::function<void(unit& core)> after_tick = {};       ///< before the sample is sent
  std::function<void(unit_latch& latch)> on_latch = {};  ///< readings of a sample; else all 0
  /// Called with each message of the unit before it is sent. False drops it.
  std::function<bool(unit& core, std::vector<std::uint8_t>& message)> before_sending = {};
  std::function<void(int reads)> on_read = {};  ///< called before each read of the host
  double tick_length = 1.0;                     ///< true tick length over the stated one
  bool forgets_at_tick = false;                 ///< loses the received part of a frame
  std::string banner = {};                      ///< text sent when it refuses a CONFIGURE
};

/// The firmware's core on a simulated board, in virtual time and on a line without delay. Its
/// encoders stand still unless on_latch moves them. Unlike the simulated unit it may have any
/// number of parts, and a fault.
class CoreBoard final : public Transport {
 public:
  explicit CoreBoard(const unit_description& description, BoardFault fault = {});

  Nanoseconds now() const noexcept override { return now_; }
  IoResult read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept override;
  IoResult write(std::span<const std::uint8_t> bytes) noexcept override;
  void close() noexcept override { is_open_ = false; }
  const TransportReport& report() const noexcept override { return report_; }

  /// Lets time pass without reading or writing. Data sent by the board wait.
  void let_pass(Nanoseconds duration);

  unit& core() { return core_; }
  int output_q15_max() const { return output_q15_max_; }  ///< largest power stage input

 private:
  bool tick_by(Nanoseconds deadline);
  void tick();
  void receive(std::uint8_t byte);
  void send_sample();
  void send_messages();
  std::uint64_t unit_us() const;

  unit_description description_;
  BoardFault fault_;
  unit core_{};
  FrameDecoder to_host_;
  Nanoseconds now_{0};
  std::uint64_t ticks_ = 0;
  int reads_ = 0;
  std::vector<std::uint8_t> frame_;  // bytes received from the host so far
  std::vector<std::uint8_t> out_;    // to the host
  bool is_open_ = true;
  int output_q15_max_ = 0;
  TransportReport report_{.description = "board in virtual time", .baud_rate = {}};
};

/// Returns a unit with two encoders, one motor and all formats.
unit_description usual_board();

}  // namespace firmware_iface
