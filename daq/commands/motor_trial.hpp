#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daq/commission/motor_test.hpp"
#include "daq/config/rig_config.hpp"
#include "daq/loop/control_loop.hpp"

namespace daq {

/// Result of one pulse or ramp.
struct MotorTrial {
  std::vector<TestPushSample> samples;
  std::vector<double> motion_rad;  ///< largest magnitude for each channel
  std::vector<int> delays;         ///< delays of commands [ticks]
  std::optional<Trip> trip;
};

/// Runs a nudge in the loop of a run, with its monitor and limits, on a running stream. Clears the
/// unit's trip first, and ends with the output off; `stop` ends it early.
/// @param motor  in the unit's order; all others get commands of zero
/// @param alarm  called once if the unit still drives after a trip
MotorTrial run_test_push(const RigConfig& rig, firmware_iface::UnitLink& unit, BlackBox& black_box,
                         const TestPushSettings& nudge, std::size_t motor,
                         const std::atomic<bool>& stop, const std::function<void()>& alarm);

}  // namespace daq
