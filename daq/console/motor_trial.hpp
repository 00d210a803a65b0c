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

/// Result of one command pulse or ramp, applied to a motor.
struct MotorTrial {
  std::vector<TestPushSample> samples;
  std::vector<double> motion_rad;  ///< largest motion of each channel's joint, magnitude
  std::vector<int> delays;         ///< measured delays of commands [ticks]
  std::optional<Trip> trip;
};

/// Applies a test pulse or ramp to one motor, using the control loop, safety monitor and limits of
/// a normal run. The sample stream must be running. Clears the unit's trip before the test and
/// switches the output off after it. Setting `stop` ends the test early.
/// @param motor  index in the unit's order; all other motors get commands of zero
/// @param alarm  called once if the unit still drives after a trip
MotorTrial run_test_push(const RigConfig& rig, firmware_iface::UnitLink& unit, BlackBox& black_box,
                         const TestPushSettings& nudge, std::size_t motor,
                         const std::atomic<bool>& stop, const std::function<void()>& alarm);

}  // namespace daq
