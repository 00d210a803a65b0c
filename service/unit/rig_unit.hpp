#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "firmware_iface/sim/config/sim_config.hpp"
#include "firmware_iface/sim/sim_transport.hpp"
#include "service/unit/rig_plant.hpp"

namespace service {

/// Files and settings for the simulation of a unit with a rig that a rig file describes.
struct RigUnitRequest {
  std::string rig;                          ///< rig file
  std::string config = {};                  ///< simulation file without a rig; empty: none
  std::string values = {};                  ///< result file with parameter values; empty: none
  std::vector<std::string> positions = {};  ///< "JOINT=VALUE" in rad or m, "JOINT=VALUEdeg"
  bool moved_by_hand = false;               ///< whether the hand turns joints of the rig
  firmware_iface::sim::SimOverrides overrides = {};
};

/// A simulated unit that is connected to a simulated rig from a rig file.
struct RigUnit {
  firmware_iface::sim::SimulationSettings settings;
  std::unique_ptr<RigPlant> plant;
  std::string parameter_text;  ///< the rig file's text, and where other parameter values come from
};

/// Prepares the simulation of a rig file's unit. Encoders, motors and inertial sensors have the
/// order of the rig file's section unit; without it, encoders and motors have the order of the
/// file. Each motor's range is its control_max, or else its command limit, or else 10.
/// @param stop  set if the motion cannot be integrated, see RigPlant
/// @throws proto::InputError for a file with errors, an encoder without counts, more motors or
///         encoders than a conversion unit has, commands not in V, A, duty or 1, a prescribed
///         motion, and a hand that turns joints of a rig with loops or mimic joints
RigUnit load_rig_unit(const RigUnitRequest& request, std::atomic<bool>& stop);

}  // namespace service
