#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "daq/config/rig_config.hpp"
#include "daq/loop/control_loop.hpp"
#include "daq/safety/black_box.hpp"
#include "firmware_iface/link/unit_link.hpp"

namespace daq {

/// Open connection to a rig's conversion unit. The object must not be moved, because its members
/// refer to one another.
struct UnitConnection {
  std::unique_ptr<firmware_iface::Transport> transport;
  BlackBox black_box;
  std::unique_ptr<firmware_iface::UnitLink> unit;
};

/// Opens the port at the rig's URL, connects to the conversion unit, and checks that the unit
/// matches the rig file: channels, counts per turn, command range, time to live of commands. Prints
/// the port and the unit's description.
firmware_iface::Result<std::unique_ptr<UnitConnection>> connect_to_unit(const RigConfig& rig,
                                                                        std::ostream& out);

/// Returns a sentence about a contradiction between the unit's description and the rig file; empty
/// if there is none. A unit may have more motors than the rig uses; the commands of unused motors
/// are zero.
std::string find_rig_contradiction(const RigConfig& rig,
                                   const firmware_iface::UnitDescription& facts);

firmware_iface::StreamSettings make_stream_settings(const RigConfig& rig,
                                                    const firmware_iface::UnitDescription& facts);

/// Returns, for each inertial sensor of the rig file, the number of samples from one reading to the
/// next. The default is the smallest number that the unit supports.
std::array<int, INERTIAL_SENSORS_MAX> compute_inertial_dividers(
    const RigConfig& rig, const firmware_iface::UnitDescription& facts);

/// Returns the safety limits with defaults for inertial sensors: if the rig file does not limit the
/// time without a reading, the limit follows from the sensor's reading rate.
SafetyLimits fill_in_reading_time_limits(SafetyLimits limits, const RigConfig& rig,
                                         const firmware_iface::UnitDescription& facts);

/// Returns the time between two samples by the unit's clock.
Nanoseconds compute_sample_period(const RigConfig& rig,
                                  const firmware_iface::UnitDescription& facts);

/// Returns the scales from counts to angles for the channels of the rig file.
std::array<ChannelScale, kJointsMax> compute_channel_scales(const RigConfig& rig);

/// Returns the control-loop settings that follow from the rig file and the unit's description.
LoopSettings make_loop_settings(const RigConfig& rig, const firmware_iface::UnitDescription& facts);

}  // namespace daq
