#pragma once

#include <functional>
#include <memory>
#include <string>

#include "firmware_iface/sim/simulated_unit.hpp"
#include "firmware_iface/transport/byte_channel.hpp"
#include "firmware_iface/transport/url.hpp"

namespace firmware_iface::sim {

/// Settings of a simulated unit and its line.
struct SimulationSettings {
  UnitSettings unit;
  LineSettings to_host;
  LineSettings to_unit;
};

/// A simulated unit and both directions of its line, a state machine for bytes and their times.
class UnitSimulation final : private UnitOutput {
 public:
  /// @param on_truth  called at each tick; may be empty
  UnitSimulation(const SimulationSettings& settings, Plant plant, Nanoseconds start,
                 std::function<void(const TrueState&)> on_truth = {});

  /// Adds bytes written by the host.
  void write(std::span<const std::uint8_t> bytes, Nanoseconds now) noexcept;

  /// Returns bytes that have reached the host by `now`; advances the unit to `now`.
  std::size_t read(std::span<std::uint8_t> buffer, Nanoseconds now) noexcept;

  /// Advances unit and line to `now`.
  void advance_to(Nanoseconds now) noexcept;

  /// Returns the time of the next event: of the unit, or the arrival of a byte at either end.
  Nanoseconds next_event() const noexcept;

  /// Returns when a reader at the host's end should check again: at the end of the next frame, or
  /// at the unit's next event if no bytes are on the way.
  Nanoseconds next_look() const noexcept;

  SimulatedUnit& unit() noexcept { return unit_; }
  const SimulatedUnit& unit() const noexcept { return unit_; }
  ByteChannel& to_host() noexcept { return to_host_; }
  ByteChannel& to_unit() noexcept { return to_unit_; }

 private:
  void on_frame(std::span<const std::uint8_t> frame, Nanoseconds at) noexcept override;
  void on_truth(const TrueState& truth) noexcept override;

  ByteChannel to_host_;
  ByteChannel to_unit_;
  std::function<void(const TrueState&)> on_truth_;
  SimulatedUnit unit_;
};

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
