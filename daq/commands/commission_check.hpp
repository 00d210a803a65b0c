#pragma once

#include <string>

#include "daq/config/rig_config.hpp"
#include "daq/scenario/catalog.hpp"
#include "firmware_iface/link/unit_sample.hpp"

namespace daq {

/// What a run has to say about the rig's commissioning.
struct CommissionNotice {
  std::string text;      ///< empty: the rig is commissioned
  bool refuses = false;  ///< the run must not be made
};

/// A rig that is not commissioned, or changed since, runs scenarios of at most a quarter of each
/// motor's command_max.
/// @param is_allowed  the operator takes larger ones upon himself
CommissionNotice check_commissioning(const RigConfig& rig, const firmware_iface::UnitFacts& facts,
                                     const std::string& scenario_path, const Scenario& scenario,
                                     bool is_allowed);

}  // namespace daq
