#pragma once

#include <string>
#include <string_view>

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
std::string move_hand(std::string_view line, SimulatedUnit& unit, Nanoseconds now);

}  // namespace firmware_iface::sim
