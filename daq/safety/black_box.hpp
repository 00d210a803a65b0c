#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "daq/scenario/observation.hpp"

namespace daq {

/// One exchange with the unit: what it said and what it was told.
struct ExchangeRecord {
  Observation observation;
  std::uint16_t unit_sequence = 0;  ///< sequence of the sample
  std::uint16_t unit_status = 0;    ///< status bits of the unit
  double requested = 0.0;           ///< by the scenario [unit of the control signal]
  double sent = 0.0;                ///< after the safety limits [unit of the control signal]
};

/// The last exchanges before, and some after, a trip. The real-time thread writes; once frozen the
/// records stay, and any thread may read them.
class BlackBox {
 public:
  static constexpr std::size_t kCapacity = 1024;  ///< about one second
  static constexpr std::size_t kAfterTrip = 128;  ///< records kept from after the trip

  /// Adds a record, replacing the oldest. Freezes kAfterTrip records after the first with
  /// `tripped`; does nothing when frozen.
  void add(const ExchangeRecord& record, bool tripped) noexcept;

  /// Freezes at once, for a run that ends soon after its trip.
  void freeze() noexcept { frozen_.store(true, std::memory_order_release); }

  bool is_frozen() const noexcept { return frozen_.load(std::memory_order_acquire); }

  /// Number of records kept; only meaningful when frozen.
  std::size_t count() const noexcept { return added_ < kCapacity ? added_ : kCapacity; }

  /// Record by age, 0 the oldest; only when frozen. index < count().
  const ExchangeRecord& record(std::size_t index) const noexcept;

 private:
  std::array<ExchangeRecord, kCapacity> records_{};
  std::size_t added_ = 0;
  std::size_t after_trip_ = 0;
  std::atomic<bool> frozen_{false};
};

}  // namespace daq
