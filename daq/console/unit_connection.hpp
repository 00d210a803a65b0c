#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "daq/config/rig_config.hpp"
#include "daq/loop/control_loop.hpp"
#include "daq/safety/black_box.hpp"
#include "firmware_iface/link/unit_link.hpp"

namespace daq {

/// An open connection to a rig's unit. Its members refer to one another, so it must not be moved.
struct UnitConnection {
  std::unique_ptr<firmware_iface::Transport> transport;
  BlackBox black_box;
  std::unique_ptr<firmware_iface::UnitLink> unit;
};

/// Opens the rig's URL, connects to the unit, and checks that it matches the rig file: channels,
/// counts per turn, command range, time to live of commands. Prints the port and the unit's
/// description.
firmware_iface::Result<std::unique_ptr<UnitConnection>> open_session(const RigConfig& rig,
                                                                     std::ostream& out);

/// Returns a sentence about how the unit contradicts the rig file; empty if it does not. A unit may
/// have motors that the rig does not use. Their commands are zero.
std::string contradiction(const RigConfig& rig, const firmware_iface::UnitFacts& facts);

firmware_iface::StreamSettings stream_settings(const RigConfig& rig,
                                               const firmware_iface::UnitFacts& facts);

/// Returns, for each inertial sensor of the rig file, the number of samples from one reading to the
/// next. If the rig file does not give it, it is the smallest that the unit supports.
std::array<int, INERTIAL_SENSORS_MAX> inertial_dividers(const RigConfig& rig,
                                                        const firmware_iface::UnitFacts& facts);

/// Returns safety limits in which each omitted longest time without a reading of an inertial sensor
/// has a default that follows from the sensor's reading rate.
SafetyLimits with_reading_times(SafetyLimits limits, const RigConfig& rig,
                                const firmware_iface::UnitFacts& facts);

/// Returns the time between two samples, in seconds of the unit's clock.
Nanoseconds sample_period(const RigConfig& rig, const firmware_iface::UnitFacts& facts);

/// Returns the scales from counts to angles for the channels of the rig file.
std::array<ChannelScale, kJointsMax> channel_scales(const RigConfig& rig);

/// Returns the settings of a control loop that follow from rig file and unit.
LoopSettings loop_settings(const RigConfig& rig, const firmware_iface::UnitFacts& facts);

}  // namespace daq
