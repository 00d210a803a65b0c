#include "firmware_iface/sim/sim_server.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "firmware_iface/transport/url.hpp"

namespace firmware_iface::sim {
namespace {

constexpr double kTurnTime_s = 1.0;
constexpr double kTurnTime_s_max = 3600.0;
constexpr std::size_t kLineMax = 200;

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

std::string execute_hand_command(std::string_view line, SimulatedUnit& unit, Nanoseconds now) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return {};
  if (line == "release") {
    unit.release_rig(now);
    return {};
  }
  std::istringstream words{std::string(line)};
  int joint = 0;
  double angle_rad = 0.0, duration_s = kTurnTime_s;
  std::string rest;
  const bool has_angle = static_cast<bool>(words >> joint >> angle_rad);
  if (!(words >> duration_s)) {
    words.clear();
    duration_s = kTurnTime_s;
  }
  const int joint_count = unit.plant().joint_count();
  if (!has_angle || (words >> rest) || joint < 1 || joint > joint_count ||
      !std::isfinite(angle_rad) || !(duration_s > 0.0 && duration_s <= kTurnTime_s_max)) {
    return "write JOINT ANGLE_RAD [SECONDS] with a joint from 1 to " + std::to_string(joint_count) +
           ", or release";
  }
  unit.turn_by_hand(joint - 1, angle_rad, Nanoseconds(std::llround(duration_s * 1e9)), now);
  return {};
}

void HandInput::poll(UnitSimulation& simulation, Nanoseconds now) {
  pollfd input{descriptor_, POLLIN, 0};
  if (descriptor_ < 0 || ::poll(&input, 1, 0) <= 0) return;
  std::array<char, kLineMax> buffer{};
  const ssize_t size_bytes = ::read(descriptor_, buffer.data(), buffer.size());
  if (size_bytes <= 0) {
    descriptor_ = -1;
    return;
  }
  pending_.append(buffer.data(), static_cast<std::size_t>(size_bytes));
  for (std::size_t end = 0; (end = pending_.find('\n')) != std::string::npos;) {
    const std::string fault = execute_hand_command(pending_.substr(0, end), simulation.unit(), now);
    if (!fault.empty()) std::fprintf(stderr, "rigcal-sim: %s\n", fault.c_str());
    pending_.erase(0, end + 1);
  }
  if (pending_.size() > kLineMax) pending_.clear();
}

std::uint64_t serve(UnitSimulation& simulation, HostConnection& port, const std::atomic<bool>& stop,
                    std::optional<Nanoseconds> end, HandInput* hand) {
  const MonotonicTime time;
  std::array<std::uint8_t, 4096> buffer{};
  std::uint64_t undelivered_bytes = 0;
  while (!stop.load(std::memory_order_relaxed) && !(end && time.now() >= *end)) {
    const std::size_t to_host = simulation.read(buffer, time.now());
    if (to_host > 0) undelivered_bytes += port.write({buffer.data(), to_host});
    const Nanoseconds deadline = std::min(simulation.next_read_time(), time.now() + kWaitMax);
    const std::size_t to_unit = port.read_some(buffer, deadline);
    if (to_unit > 0) write_frames(simulation, {buffer.data(), to_unit}, time.now());
    if (hand != nullptr) hand->poll(simulation, time.now());
  }
  return undelivered_bytes;
}

}  // namespace firmware_iface::sim
