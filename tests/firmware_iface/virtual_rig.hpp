#pragma once

#include <memory>

#include "firmware_iface/link/unit_link.hpp"
#include "firmware_iface/sim/plants.hpp"
#include "firmware_iface/sim/sim_transport.hpp"

namespace virtual_rig {

/// A simulated Furuta rig in virtual time and a link to it.
struct VirtualRig {
  explicit VirtualRig(const firmware_iface::sim::SimulationSettings& settings = {},
                      const firmware_iface::sim::JointState& start = {});

  /// Connects, clears the boot trip and starts the stream; expects all to succeed.
  void start(const firmware_iface::StreamSettings& stream = {});

  /// Requests CLEAR and reads samples until the unit has cleared or refused. Returns the outcome.
  firmware_iface::ClearTripState clear();

  /// Reads one sample, waiting up to 10 ms; expects one.
  firmware_iface::UnitSample read();

  firmware_iface::sim::SimulatedUnit& unit() { return transport->simulation().unit(); }

  std::unique_ptr<firmware_iface::sim::SimTransport> transport;
  std::unique_ptr<firmware_iface::UnitLink> link;
};

/// A line at 921 600 baud without faults; the unit sets the pace and has default settings.
firmware_iface::sim::SimulationSettings settings_at(int baud_rate);

}  // namespace virtual_rig
