#pragma once

#include <string>
#include <string_view>

#include "firmware_iface/sim/unit_simulation.hpp"

namespace firmware_iface::sim {

/// Simulated hand on a rig, controlled by lines on a descriptor: "JOINT ANGLE_RAD [SECONDS]" turns
/// a joint, counted from 1, and holds the rig; "release" releases it.
class HandInput {
 public:
  explicit HandInput(int descriptor) : descriptor_(descriptor) {}

  /// Executes the lines written so far; never waits. Reports invalid lines on standard error.
  void poll(UnitSimulation& simulation, Nanoseconds now);

 private:
  int descriptor_;
  std::string pending_;  // an incomplete line
};

/// Returns the error in a line of input; empty if the line was executed.
std::string move_hand(std::string_view line, SimulatedUnit& unit, Nanoseconds now);

}  // namespace firmware_iface::sim
