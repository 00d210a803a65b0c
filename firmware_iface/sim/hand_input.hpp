#pragma once

#include <string>
#include <string_view>

#include "firmware_iface/sim/unit_simulation.hpp"

namespace firmware_iface::sim {

/// The hand on a simulated rig, moved by lines on a descriptor: "JOINT ANGLE_RAD [SECONDS]" turns a
/// joint, counted from 1, and holds the rig; "release" lets go.
class HandInput {
 public:
  explicit HandInput(int descriptor) : descriptor_(descriptor) {}

  /// Does what has been written since the last call; never waits. Lines that it does not understand
  /// are reported on standard error.
  void poll(UnitSimulation& simulation, Nanoseconds now);

 private:
  int descriptor_;
  std::string pending_;  // a line that is not complete
};

/// What is wrong with a line of input for the hand; empty when it was obeyed.
std::string move_hand(std::string_view line, SimulatedUnit& unit, Nanoseconds now);

}  // namespace firmware_iface::sim
