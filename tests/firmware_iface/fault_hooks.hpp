#pragma once

#include <functional>
#include <optional>

#include "firmware_iface/conformance/test_host.hpp"
#include "tests/firmware_iface/core_board.hpp"

/// Helpers for injected faults: functions that parse frames, and hooks of a BoardFault.
namespace firmware_iface::fault_hooks {

using conformance::Bytes;
using conformance::encode_message;

/// Returns message and CRC of a frame without delimiter; nullopt if it is not a COBS sequence.
std::optional<Bytes> plain_of(const Bytes& frame);

/// Returns the message in a frame, even if its CRC-32C is wrong; nullopt if the frame is too short.
std::optional<Bytes> message_in(const Bytes& frame);
std::uint32_t crc_in(const Bytes& frame);

/// Replaces a frame by the frame of `message`, without delimiter.
void put(Bytes& frame, const Bytes& message);

/// Sets one hook of a fault, or all that are needed to change messages of one type.
using Plant = std::function<void(BoardFault&)>;
Plant before_frame(decltype(BoardFault::before_frame) hook);
Plant before_message(decltype(BoardFault::before_message) hook);
Plant after_message(decltype(BoardFault::after_message) hook);
Plant after_tick(decltype(BoardFault::after_tick) hook);
Plant before_sending(decltype(BoardFault::before_sending) hook);
Plant on_command(std::function<void(unit&, command_request&)> change);
Plant on_configure(std::function<void(unit&, configure_request&)> change);
Plant on_clear(std::function<void(unit&, clear_request&)> change);
/// `change` returns false to drop a message.
Plant on_sending(std::uint8_t type, std::function<bool(unit&, Bytes&)> change);
Plant on_reply(std::uint8_t type, std::function<void(unit&, Bytes&)> change);
Plant on_sample(std::function<void(unit&, Bytes&)> change);

// Offsets in messages, as in the layout of PROTOCOL.md.
inline constexpr std::size_t kSampleEcho = 7;
inline constexpr std::size_t kSampleValid = 9;
inline constexpr std::size_t kSampleStatus = 11;
inline constexpr std::size_t kSampleFirstMotor = 14;
inline constexpr std::size_t kCompactValid = 6;
inline constexpr std::size_t kHelloHash = 23;
inline constexpr std::size_t kHelloSamples = 29;
inline constexpr std::size_t kConfigureDivider = 5;
inline constexpr std::size_t kConfigureSamples = 6;
inline constexpr std::size_t kConfigureStart = 10;

bool enables(const command_request& command);
std::uint32_t newest(const unit& core);  ///< sequence number of the newest sample
std::uint64_t latch_us(const unit& core, std::uint32_t sample);

}  // namespace firmware_iface::fault_hooks
