#pragma once

#include <memory>
#include <string>

#include "firmware_iface/sim/unit_simulation.hpp"
#include "firmware_iface/transport/time_source.hpp"

namespace firmware_iface::sim {

/// A simulated unit within this process. Each read or write advances it to the present time; with
/// VirtualTime a read advances the time.
class SimTransport final : public Transport {
 public:
  /// `simulation` must have been started at or before time->now().
  SimTransport(std::unique_ptr<UnitSimulation> simulation, std::shared_ptr<TimeSource> time,
               std::string description, int baud_rate);

  Nanoseconds now() const noexcept override { return time_->now(); }
  IoResult read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept override;
  IoResult write(std::span<const std::uint8_t> bytes) noexcept override;
  void close() noexcept override { open_ = false; }
  const TransportReport& report() const noexcept override { return report_; }

  UnitSimulation& simulation() noexcept { return *simulation_; }

 private:
  std::unique_ptr<UnitSimulation> simulation_;
  std::shared_ptr<TimeSource> time_;
  bool open_ = true;
  TransportReport report_;
};

}  // namespace firmware_iface::sim
