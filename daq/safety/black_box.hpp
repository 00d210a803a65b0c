#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "firmware_iface/link/unit_link.hpp"
#include "firmware_iface/wire/limits.h"

namespace daq {

/// One message between host and unit: type and body, without stuffing, checksum and delimiter.
struct StoredMessage {
  firmware_iface::Nanoseconds at{0};  ///< host clock
  firmware_iface::Direction direction = firmware_iface::Direction::kToHost;
  std::uint8_t size_bytes = 0;
  std::array<std::uint8_t, MESSAGE_SIZE_BYTES_MAX> bytes{};

  std::span<const std::uint8_t> message() const noexcept { return {bytes.data(), size_bytes}; }
};

/// Flight recorder of the messages between host and unit: stores the last messages before a trip
/// and some messages after the trip. The real-time thread writes the messages. Once the black box
/// is frozen, its messages do not change and any thread may read them.
class BlackBox : public firmware_iface::MessageListener {
 public:
  static constexpr std::size_t kCapacity = 512;   ///< a quarter of a second at 1 kHz
  static constexpr std::size_t kAfterTrip = 100;  ///< number of messages kept after the trip

  /// Stores a message in place of the oldest one; does nothing if the black box is frozen.
  void on_message(firmware_iface::Direction direction, std::span<const std::uint8_t> message,
                  firmware_iface::Nanoseconds at) noexcept override;

  /// Starts the countdown to freezing: the stored messages are frozen after kAfterTrip more
  /// messages. Later calls have no effect.
  void freeze_after_trip() noexcept { trip_noted_ = true; }

  /// Freezes the messages immediately, for a run that ends soon after its trip.
  void freeze() noexcept { frozen_.store(true, std::memory_order_release); }

  bool is_frozen() const noexcept { return frozen_.load(std::memory_order_acquire); }

  /// Returns the number of stored messages. To be called only when frozen.
  std::size_t count() const noexcept { return added_ < kCapacity ? added_ : kCapacity; }

  /// Returns a stored message. To be called only when frozen. Index 0 is the oldest, index <
  /// count().
  const StoredMessage& message(std::size_t index) const noexcept;

 private:
  std::array<StoredMessage, kCapacity> messages_{};
  std::size_t added_ = 0;
  std::size_t added_after_trip_ = 0;
  bool trip_noted_ = false;
  std::atomic<bool> frozen_{false};
};

}  // namespace daq
