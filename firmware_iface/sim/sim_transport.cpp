#include "firmware_iface/sim/sim_transport.hpp"

#include <algorithm>
#include <utility>

namespace firmware_iface::sim {

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
    time_->sleep_until(std::min(deadline, simulation_->next_look()));
  }
}

IoResult SimTransport::write(std::span<const std::uint8_t> bytes) noexcept {
  if (!open_) return {IoStatus::kClosed, 0};
  simulation_->write(bytes, time_->now());
  return {IoStatus::kOk, bytes.size()};
}

}  // namespace firmware_iface::sim
