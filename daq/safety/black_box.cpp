#include "daq/safety/black_box.hpp"

#include <cassert>

namespace daq {

void BlackBox::add(const ExchangeRecord& record, bool tripped) noexcept {
  if (frozen_.load(std::memory_order_relaxed)) return;
  records_[added_ % kCapacity] = record;
  ++added_;
  if (!tripped) return;
  ++after_trip_;
  if (after_trip_ > kAfterTrip) freeze();
}

const ExchangeRecord& BlackBox::record(std::size_t index) const noexcept {
  assert(is_frozen());
  assert(index < count());
  const std::size_t oldest = added_ < kCapacity ? 0 : added_ % kCapacity;
  return records_[(oldest + index) % kCapacity];
}

}  // namespace daq
