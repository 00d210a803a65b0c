#include "daq/safety/black_box.hpp"

#include <algorithm>
#include <cassert>

namespace daq {

void BlackBox::on_message(firmware_iface::Direction direction,
                          std::span<const std::uint8_t> message,
                          firmware_iface::Nanoseconds at) noexcept {
  if (frozen_.load(std::memory_order_relaxed)) return;
  StoredMessage& kept = messages_[added_ % kCapacity];
  kept.at = at;
  kept.direction = direction;
  const std::size_t size_bytes = std::min(message.size(), kept.bytes.size());
  kept.size_bytes = static_cast<std::uint8_t>(size_bytes);
  std::copy_n(message.begin(), size_bytes, kept.bytes.begin());
  ++added_;
  if (trip_noted_ && ++added_after_trip_ == kAfterTrip) freeze();
}

const StoredMessage& BlackBox::message(std::size_t index) const noexcept {
  assert(is_frozen());
  assert(index < count());
  const std::size_t oldest = added_ < kCapacity ? 0 : added_ % kCapacity;
  return messages_[(oldest + index) % kCapacity];
}

}  // namespace daq
