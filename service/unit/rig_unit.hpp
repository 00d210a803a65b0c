#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "firmware_iface/sim/config/sim_config.hpp"
#include "firmware_iface/sim/sim_transport.hpp"
#include "service/unit/rig_plant.hpp"

namespace service {

/// Files and settings for the simulation of a conversion unit with a rig from a rig file.
struct RigUnitRequest {
  std::string rig;                          ///< rig file
  std::string config = {};                  ///< simulation file without a rig; empty: none
  std::string values = {};                  ///< result file with parameter values; empty: none
  std::vector<std::string> positions = {};  ///< "JOINT=VALUE" in rad or m, "JOINT=VALUEdeg"
  bool moved_by_hand = false;               ///< whether the hand turns joints of the rig
  firmware_iface::sim::SimOverrides overrides = {};
};

/// A simulated conversion unit that is connected to a simulated rig from a rig file.
struct RigUnit {
  firmware_iface::sim::SimulationSettings settings;
  std::unique_ptr<RigPlant> plant;
  std::string parameter_text;  ///< text of the rig file, and the source of other parameter values
};

/// Prepares the simulation of a rig file's conversion unit. Encoders, motors and inertial sensors
/// have the order of section `unit` in the file; without it, encoders and motors have the order of
/// the file. The range of a motor is its control_max, otherwise its command limit, otherwise 10.
/// @param stop  set if the motion cannot be integrated, see RigPlant
/// @throws proto::InputError for a file with errors, an encoder without counts, or too many motors
///         or encoders for a conversion unit. Also for commands that are not in V, A, duty or 1, a
///         prescribed motion, or a hand that turns joints of a rig with loops or mimic joints
RigUnit load_rig_unit(const RigUnitRequest& request, std::atomic<bool>& stop);

}  // namespace service
