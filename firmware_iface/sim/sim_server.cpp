#include "firmware_iface/sim/sim_server.hpp"

#include <algorithm>
#include <array>

#include "firmware_iface/transport/url.hpp"

namespace firmware_iface::sim {
namespace {

// Longest wait, and thus the largest delay until `stop` is noticed.
constexpr Nanoseconds kWaitMax = std::chrono::milliseconds(50);

// Faults occur per frame, so frames that arrive together are passed on one by one.
void write_frames(UnitSimulation& simulation, std::span<const std::uint8_t> bytes,
                  Nanoseconds now) {
  while (!bytes.empty()) {
    const auto delimiter = std::find(bytes.begin(), bytes.end(), std::uint8_t{0});
    const auto size_bytes =
        static_cast<std::size_t>(delimiter - bytes.begin()) + (delimiter != bytes.end() ? 1 : 0);
    simulation.write(bytes.first(size_bytes), now);
    bytes = bytes.subspan(size_bytes);
  }
}

}  // namespace

std::uint64_t serve(UnitSimulation& simulation, HostPort& port, const std::atomic<bool>& stop,
                    std::optional<Nanoseconds> end, HandInput* hand) {
  const MonotonicTime time;
  std::array<std::uint8_t, 4096> buffer{};
  std::uint64_t undelivered_bytes = 0;
  while (!stop.load(std::memory_order_relaxed) && !(end && time.now() >= *end)) {
    const std::size_t to_host = simulation.read(buffer, time.now());
    if (to_host > 0) undelivered_bytes += port.write({buffer.data(), to_host});
    const Nanoseconds deadline = std::min(simulation.next_look(), time.now() + kWaitMax);
    const std::size_t to_unit = port.read_some(buffer, deadline);
    if (to_unit > 0) write_frames(simulation, {buffer.data(), to_unit}, time.now());
    if (hand != nullptr) hand->poll(simulation, time.now());
  }
  return undelivered_bytes;
}

}  // namespace firmware_iface::sim
