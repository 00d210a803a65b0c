#pragma once

#include <string>

#include "daq/config/rig_config.hpp"
#include "daq/scenario/catalog.hpp"
#include "firmware_iface/link/unit_sample.hpp"

namespace daq {

/// Result of checking a rig's commissioning before a run.
struct CommissionNotice {
  std::string text;      ///< message for the operator; empty if the rig is commissioned
  bool refuses = false;  ///< the run must not start
};

/// Checks whether a scenario may run on a rig. On a rig that is not commissioned, or has changed
/// since it was, no command may exceed a quarter of its motor's command_max.
/// @param is_allowed  the operator accepts larger commands
CommissionNotice check_commissioning(const RigConfig& rig, const firmware_iface::UnitFacts& facts,
                                     const std::string& scenario_path, const Scenario& scenario,
                                     bool is_allowed);

}  // namespace daq
