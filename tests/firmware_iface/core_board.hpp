#pragma once

#include <functional>
#include <string>
#include <vector>

#include "firmware_iface/firmware/core/unit.h"
#include "firmware_iface/link/frame_decoder.hpp"
#include "firmware_iface/transport/transport.hpp"

namespace firmware_iface {

/// What goes wrong in a unit: each function may change what passes it. All empty: a good unit.
struct BoardFault {
  /// A frame from the host, without its delimiter, before the core reads it. False drops it.
  std::function<bool(unit& core, std::vector<std::uint8_t>& frame)> before_frame;
  /// A good message from the host, before and after the core takes it.
  std::function<void(unit& core, std::vector<std::uint8_t>& message)> before_message;
  std::function<void(unit& core, const std::vector<std::uint8_t>& message)> after_message;
  std::function<void(unit& core)> after_tick;  ///< before the sample is sent
  /// A message of the unit, before it is sent. False drops it.
  std::function<bool(unit& core, std::vector<std::uint8_t>& message)> before_sending;
  double tick_length = 1.0;      ///< of the unit's ticks, by the host's clock, over what it claims
  bool forgets_at_tick = false;  ///< the part of a frame that has come
  std::string banner;            ///< text that it sends when it refuses a CONFIGURE
};

/// The firmware's core on a board of our own, in virtual time, behind a line that delivers at once.
/// Encoders stand still. Unlike the simulated unit it may have any number of parts, and a fault.
class CoreBoard final : public Transport {
 public:
  explicit CoreBoard(const unit_description& description, BoardFault fault = {});

  Nanoseconds now() const noexcept override { return now_; }
  IoResult read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept override;
  IoResult write(std::span<const std::uint8_t> bytes) noexcept override;
  void close() noexcept override { is_open_ = false; }
  const TransportReport& report() const noexcept override { return report_; }

  /// Time in which nobody reads or writes; what the board sends waits.
  void let_pass(Nanoseconds duration);

  unit& core() { return core_; }
  int output_q15_max() const { return output_q15_max_; }  ///< that the power stage ever got

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
  std::vector<std::uint8_t> frame_;  // from the host, so far
  std::vector<std::uint8_t> out_;    // to the host
  bool is_open_ = true;
  int output_q15_max_ = 0;
  TransportReport report_{.description = "board in virtual time", .baud_rate = {}};
};

/// Two encoders, one motor, all formats.
unit_description usual_board();

}  // namespace firmware_iface
