#include "firmware_iface/sim/hand_input.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace firmware_iface::sim {
namespace {

constexpr double kTurnTime_s = 1.0;
constexpr double kTurnTime_s_max = 3600.0;
constexpr std::size_t kLineMax = 200;

}  // namespace

std::string move_hand(std::string_view line, SimulatedUnit& unit, Nanoseconds now) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return {};
  if (line == "release") {
    unit.let_go(now);
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
    const std::string fault = move_hand(pending_.substr(0, end), simulation.unit(), now);
    if (!fault.empty()) std::fprintf(stderr, "rigcal-sim: %s\n", fault.c_str());
    pending_.erase(0, end + 1);
  }
  if (pending_.size() > kLineMax) pending_.clear();
}

}  // namespace firmware_iface::sim
