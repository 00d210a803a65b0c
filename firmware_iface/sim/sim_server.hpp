#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "firmware_iface/sim/host_port.hpp"
#include "firmware_iface/sim/sim_transport.hpp"

namespace firmware_iface::sim {

/// Simulated hand on a rig, controlled by lines of text from a file descriptor. "JOINT ANGLE_RAD
/// [SECONDS]" turns a joint, counted from 1, and holds the rig. "release" releases the rig.
class HandInput {
 public:
  explicit HandInput(int descriptor) : descriptor_(descriptor) {}

  /// Executes the lines written so far; never waits. Reports invalid lines on standard error.
  void poll(UnitSimulation& simulation, Nanoseconds now);

 private:
  int descriptor_;
  std::string pending_;  // an incomplete line
};

/// Executes a line of input. Returns the error in the line; empty if it was executed.
std::string execute_hand_command(std::string_view line, SimulatedUnit& unit, Nanoseconds now);

/// Runs a simulation in real time behind a port, until `stop` is set or `end` (CLOCK_MONOTONIC) has
/// passed. Returns the number of bytes that the host did not accept.
/// @param hand  moves the rig; may be null
std::uint64_t serve(UnitSimulation& simulation, HostConnection& port, const std::atomic<bool>& stop,
                    std::optional<Nanoseconds> end = {}, HandInput* hand = nullptr);

}  // namespace firmware_iface::sim
