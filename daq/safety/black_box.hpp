#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "firmware_iface/link/unit_link.hpp"
#include "firmware_iface/wire/limits.h"

namespace daq {

/// One message as it crossed the link: type and body, without stuffing, checksum and delimiter.
struct KeptMessage {
  firmware_iface::Nanoseconds at{0};  ///< host clock
  firmware_iface::Direction direction = firmware_iface::Direction::kToHost;
  std::uint8_t size_bytes = 0;
  std::array<std::uint8_t, MESSAGE_SIZE_BYTES_MAX> bytes{};

  std::span<const std::uint8_t> message() const noexcept { return {bytes.data(), size_bytes}; }
};

/// The last messages of both directions before a trip, and some after it. The real-time thread
/// writes; once frozen the messages stay, and any thread may read them.
class BlackBox : public firmware_iface::MessageTap {
 public:
  static constexpr std::size_t kCapacity = 512;   ///< a quarter of a second at 1 kHz
  static constexpr std::size_t kAfterTrip = 100;  ///< messages kept from after the trip

  /// Keeps a message in place of the oldest one; nothing once frozen.
  void on_message(firmware_iface::Direction direction, std::span<const std::uint8_t> message,
                  firmware_iface::Nanoseconds at) noexcept override;

  /// Freezes kAfterTrip messages from now. Later calls change nothing.
  void note_trip() noexcept { trip_noted_ = true; }

  /// Freezes at once, for a run that ends soon after its trip.
  void freeze() noexcept { frozen_.store(true, std::memory_order_release); }

  bool is_frozen() const noexcept { return frozen_.load(std::memory_order_acquire); }

  /// Number of messages kept; only when frozen.
  std::size_t count() const noexcept { return added_ < kCapacity ? added_ : kCapacity; }

  /// Message by age, 0 the oldest; only when frozen. index < count().
  const KeptMessage& message(std::size_t index) const noexcept;

 private:
  std::array<KeptMessage, kCapacity> messages_{};
  std::size_t added_ = 0;
  std::size_t added_after_trip_ = 0;
  bool trip_noted_ = false;
  std::atomic<bool> frozen_{false};
};

}  // namespace daq
