#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "firmware_iface/sim/simulated_unit.hpp"
#include "firmware_iface/transport/byte_channel.hpp"
#include "firmware_iface/transport/url.hpp"

namespace firmware_iface::sim {

/// Settings of a simulated conversion unit and of its serial line.
struct SimulationSettings {
  UnitSettings unit;
  LineSettings to_host;
  LineSettings to_unit;
};

/// Simulation of a conversion unit and of both directions of its serial line. It has no clock; the
/// caller passes bytes and times.
class UnitSimulation final : private UnitOutputListener {
 public:
  /// @param on_true_state  called at each tick; may be empty
  UnitSimulation(const SimulationSettings& settings, std::unique_ptr<UnitPlant> plant,
                 Nanoseconds start, std::function<void(const TrueState&)> on_true_state = {});
  UnitSimulation(const SimulationSettings& settings, Plant plant, Nanoseconds start,
                 std::function<void(const TrueState&)> on_true_state = {})
      : UnitSimulation(settings, std::make_unique<Plant>(std::move(plant)), start,
                       std::move(on_true_state)) {}

  /// Adds bytes written by the host.
  void write(std::span<const std::uint8_t> bytes, Nanoseconds now) noexcept;

  /// Advances the unit to `now` and returns the bytes that have reached the host by then.
  std::size_t read(std::span<std::uint8_t> buffer, Nanoseconds now) noexcept;

  /// Advances unit and line to `now`.
  void advance_to(Nanoseconds now) noexcept;

  /// Returns the time of the next event: an event of the unit, or the arrival of a byte at the
  /// host's end or the unit's end of the line.
  Nanoseconds next_event_time() const noexcept;

  /// Returns the time at which a reader at the host's end should read again: the end of the next
  /// frame, or the unit's next event if no bytes are on the way.
  Nanoseconds next_read_time() const noexcept;

  SimulatedUnit& unit() noexcept { return unit_; }
  const SimulatedUnit& unit() const noexcept { return unit_; }
  ByteChannel& to_host() noexcept { return to_host_; }
  ByteChannel& to_unit() noexcept { return to_unit_; }

 private:
  void on_frame(std::span<const std::uint8_t> frame, Nanoseconds at) noexcept override;
  void on_true_state(const TrueState& truth) noexcept override;

  ByteChannel to_host_;
  ByteChannel to_unit_;
  std::function<void(const TrueState&)> on_truth_;
  SimulatedUnit unit_;
};

/// Transport to a simulated conversion unit within this process. Each read or write advances the
/// unit to the present time; with VirtualTime a read advances the time.
class SimTransport final : public Transport {
 public:
  /// Creates the transport. `simulation` must have been started at or before time->now().
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
