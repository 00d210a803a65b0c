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
/// counts per turn, command range, ttl. Prints the port and the unit's description.
firmware_iface::Result<std::unique_ptr<UnitConnection>> open_session(const RigConfig& rig,
                                                                     std::ostream& out);

/// Returns how the unit contradicts the rig file, one sentence; empty if it does not. A unit may
/// have motors that the rig does not use: their commands are zero.
std::string contradiction(const RigConfig& rig, const firmware_iface::UnitFacts& facts);

firmware_iface::StreamSettings stream_settings(const RigConfig& rig,
                                               const firmware_iface::UnitFacts& facts);

/// Returns the number of samples between two readings of each inertial sensor of the rig file; if
/// not given there, the smallest that the unit supports.
std::array<int, INERTIAL_SENSORS_MAX> inertial_dividers(const RigConfig& rig,
                                                        const firmware_iface::UnitFacts& facts);

/// Returns the limits, with default times that follow from the sensors' reading rates.
SafetyLimits with_reading_times(SafetyLimits limits, const RigConfig& rig,
                                const firmware_iface::UnitFacts& facts);

/// Returns the time between samples by the unit's clock.
Nanoseconds sample_period(const RigConfig& rig, const firmware_iface::UnitFacts& facts);

/// Returns the scales from counts to readings for the inertial sensors of the rig file.
std::array<InertialScale, INERTIAL_SENSORS_MAX> inertial_scales(const RigConfig& rig);

/// Returns the scales from counts to angles for the channels of the rig file.
std::array<ChannelScale, kJointsMax> channel_scales(const RigConfig& rig);

}  // namespace daq
