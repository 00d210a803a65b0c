#pragma once

#include <string>

#include "daq/config/rig_config.hpp"
#include "daq/scenario/catalog.hpp"
#include "firmware_iface/link/unit_sample.hpp"

namespace daq {

/// Result of checking a rig's commissioning before a run.
struct CommissionNotice {
  std::string text;      ///< message; empty: the rig is commissioned
  bool refuses = false;  ///< the run must not start
};

/// Limits a rig that is not commissioned, or has changed since, to scenarios of at most a quarter
/// of each motor's command_max.
/// @param is_allowed  the operator accepts larger commands
CommissionNotice check_commissioning(const RigConfig& rig, const firmware_iface::UnitFacts& facts,
                                     const std::string& scenario_path, const Scenario& scenario,
                                     bool is_allowed);

}  // namespace daq
