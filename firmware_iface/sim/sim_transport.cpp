#include "firmware_iface/sim/sim_transport.hpp"

#include <algorithm>

namespace firmware_iface::sim {

UnitSimulation::UnitSimulation(const SimulationSettings& settings, std::unique_ptr<UnitPlant> plant,
                               Nanoseconds start,
                               std::function<void(const TrueState&)> on_true_state)
    : to_host_(settings.to_host),
      to_unit_(settings.to_unit),
      on_truth_(std::move(on_true_state)),
      unit_(settings.unit, std::move(plant), *this, start) {}

void UnitSimulation::write(std::span<const std::uint8_t> bytes, Nanoseconds now) noexcept {
  advance_to(now);
  to_unit_.push(bytes, now);
}

std::size_t UnitSimulation::read(std::span<std::uint8_t> buffer, Nanoseconds now) noexcept {
  advance_to(now);
  return to_host_.pop(buffer, now);
}

void UnitSimulation::advance_to(Nanoseconds now) noexcept {
  while (const std::optional<Nanoseconds> arrival = to_unit_.next_arrival()) {
    if (*arrival > now) break;
    std::uint8_t byte = 0;
    to_unit_.pop({&byte, 1}, *arrival);
    unit_.receive({&byte, 1}, *arrival);
  }
  unit_.advance_to(now);
}

Nanoseconds UnitSimulation::next_event_time() const noexcept {
  Nanoseconds next = unit_.next_event_time();
  if (const auto arrival = to_unit_.next_arrival()) next = std::min(next, *arrival);
  if (const auto arrival = to_host_.next_arrival()) next = std::min(next, *arrival);
  return next;
}

Nanoseconds UnitSimulation::next_read_time() const noexcept {
  // Waking only for whole frames saves most wake-ups, without a delay: a reader cannot use less.
  return to_host_.next_frame_end().value_or(next_event_time());
}

void UnitSimulation::on_frame(std::span<const std::uint8_t> frame, Nanoseconds at) noexcept {
  to_host_.push(frame, at);
}

void UnitSimulation::on_true_state(const TrueState& truth) noexcept {
  if (on_truth_) on_truth_(truth);
}

SimTransport::SimTransport(std::unique_ptr<UnitSimulation> simulation,
                           std::shared_ptr<TimeSource> time, std::string description, int baud_rate)
    : simulation_(std::move(simulation)), time_(std::move(time)) {
  report_.description = std::move(description);
  if (baud_rate > 0) report_.baud_rate = baud_rate;
}

IoResult SimTransport::read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept {
  for (;;) {
    if (!open_) return {IoStatus::kClosed, 0};
    const Nanoseconds now = time_->now();
    const std::size_t size_bytes = simulation_->read(buffer, now);
    if (size_bytes > 0) return {IoStatus::kOk, size_bytes};
    if (now >= deadline) return {IoStatus::kTimeout, 0};
    time_->sleep_until(std::min(deadline, simulation_->next_read_time()));
  }
}

IoResult SimTransport::write(std::span<const std::uint8_t> bytes) noexcept {
  if (!open_) return {IoStatus::kClosed, 0};
  simulation_->write(bytes, time_->now());
  return {IoStatus::kOk, bytes.size()};
}

}  // namespace firmware_iface::sim
