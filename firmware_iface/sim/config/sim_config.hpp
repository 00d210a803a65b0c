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
  /// Parameters of the simulated rig; monostate if the rig comes from a rig file.
  std::variant<std::monostate, PendulumParameters, FurutaParameters> rig;
  JointState start;
  SimulationSettings settings;
  std::string resolved_text;  ///< the file's message as text, including the overrides

  /// Creates the simulated rig that the simulation file describes. `rig` must have a value.
  Plant make_plant() const;
};

/// Settings of a simulation file that command-line options can override.
struct SimOverrides {
  std::optional<std::uint32_t> baud_rate;
  std::optional<double> clock_error_ppm;
  std::optional<std::uint64_t> seed;
};

/// Reads a simulation file: a rigcal.v1.Simulation (proto/sim.proto) in text format.
/// @throws proto::InputError "FILE:LINE:COLUMN: what; what to do"
SimConfig load_sim_config(const std::string& path, const SimOverrides& overrides = {});

/// Reads a simulation file for a rig from a rig file, which describes joints, encoders and motors.
/// The simulation file may only describe the rest of the unit, the serial line, the hand and the
/// faults.
/// @param path         empty: all settings have their default values
/// @param joint_count  number of encoders of the rig file
/// @throws proto::InputError like load_sim_config, also for a rig, encoder, inertial sensor or
///     command range in the file
SimConfig load_unit_config(const std::string& path, int joint_count,
                           const SimOverrides& overrides = {});

}  // namespace firmware_iface::sim
