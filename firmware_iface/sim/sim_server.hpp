#pragma once

#include <atomic>
#include <optional>

#include "firmware_iface/sim/hand_input.hpp"
#include "firmware_iface/sim/host_port.hpp"
#include "firmware_iface/sim/sim_transport.hpp"

namespace firmware_iface::sim {

/// Runs a simulation in real time behind a port, until `stop` is set or `end` (CLOCK_MONOTONIC) has
/// passed. Returns the number of bytes that the host did not accept.
/// @param hand  moves the rig; may be null
std::uint64_t serve(UnitSimulation& simulation, HostPort& port, const std::atomic<bool>& stop,
                    std::optional<Nanoseconds> end = {}, HandInput* hand = nullptr);

}  // namespace firmware_iface::sim
