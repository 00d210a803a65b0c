#include "firmware_iface/sim/unit_simulation.hpp"

#include <algorithm>
#include <utility>

namespace firmware_iface::sim {

UnitSimulation::UnitSimulation(const SimulationSettings& settings, Plant plant, Nanoseconds start,
                               std::function<void(const TrueState&)> on_truth)
    : to_host_(settings.to_host),
      to_unit_(settings.to_unit),
      on_truth_(std::move(on_truth)),
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

Nanoseconds UnitSimulation::next_event() const noexcept {
  Nanoseconds next = unit_.next_event();
  if (const auto arrival = to_unit_.next_arrival()) next = std::min(next, *arrival);
  if (const auto arrival = to_host_.next_arrival()) next = std::min(next, *arrival);
  return next;
}

Nanoseconds UnitSimulation::next_look() const noexcept {
  // Waking only for whole frames saves most wake-ups, without a delay: a reader cannot use less.
  return to_host_.next_frame_end().value_or(next_event());
}

void UnitSimulation::on_frame(std::span<const std::uint8_t> frame, Nanoseconds at) noexcept {
  to_host_.push(frame, at);
}

void UnitSimulation::on_truth(const TrueState& truth) noexcept {
  if (on_truth_) on_truth_(truth);
}

}  // namespace firmware_iface::sim
