#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daq/commission/motor_findings.hpp"
#include "daq/config/rig_config.hpp"
#include "daq/loop/control_loop.hpp"

namespace daq {

/// What one pulse or ramp did.
struct MotorTrial {
  std::vector<NudgeSample> samples;
  std::vector<double> motion_rad;  ///< of each channel, largest magnitude
  std::vector<int> delays;         ///< of commands, in ticks
  std::optional<Trip> trip;
};

/// Runs a nudge through the loop of a run, with its monitor and limits, on a stream that is on.
/// Begins by clearing the unit's trip and ends with the output off, sooner when `stop` is set.
/// @param motor  in the unit's order; all others are commanded zero
/// @param alarm  called once if the unit drives on after a trip
MotorTrial run_nudge(const RigConfig& rig, firmware_iface::UnitLink& unit, BlackBox& black_box,
                     const NudgeSettings& nudge, std::size_t motor, const std::atomic<bool>& stop,
                     const std::function<void()>& alarm);

}  // namespace daq
