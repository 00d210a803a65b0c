#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "firmware_iface/sim/plants.hpp"
#include "firmware_iface/sim/sim_transport.hpp"

namespace firmware_iface::sim {

/// A parsed and checked simulation file.
struct SimConfig {
  std::variant<PendulumParameters, FurutaParameters> rig;
  JointState start;
  SimulationSettings settings;
  std::string resolved_text;  ///< the file's message as text, including the overrides

  /// Creates the simulated rig that the simulation file describes.
  Plant make_plant() const;
};

/// Settings of a simulation file that a command line can override.
struct SimOverrides {
  std::optional<std::uint32_t> baud_rate;
  std::optional<double> clock_error_ppm;
  std::optional<std::uint64_t> seed;
};

/// Reads a simulation file: a rigcal.v1.Simulation (proto/sim.proto) in text format.
/// @throws proto::InputError "FILE:LINE:COLUMN: what; what to do"
SimConfig load_sim_config(const std::string& path, const SimOverrides& overrides = {});

}  // namespace firmware_iface::sim
