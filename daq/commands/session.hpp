#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "daq/config/rig_config.hpp"
#include "daq/loop/control_loop.hpp"
#include "daq/safety/black_box.hpp"
#include "firmware_iface/link/unit_link.hpp"

namespace daq {

/// An open line to a rig's unit, with the conversation on it. Members refer to one another, so it
/// stays where it was made.
struct UnitSession {
  std::unique_ptr<firmware_iface::Transport> transport;
  BlackBox black_box;
  std::unique_ptr<firmware_iface::UnitLink> unit;
};

/// Opens the rig's URL, greets the unit, and checks that it is the one the rig file describes:
/// channels, counts per turn, command range, ttl. Says what was opened and what the unit is.
firmware_iface::Result<std::unique_ptr<UnitSession>> open_session(const RigConfig& rig,
                                                                  std::ostream& out);

/// What of the rig file the unit contradicts, one sentence; empty when nothing. A unit may have
/// motors that the rig does not use: they are commanded zero.
std::string contradiction(const RigConfig& rig, const firmware_iface::UnitFacts& facts);

firmware_iface::StreamSettings stream_settings(const RigConfig& rig,
                                               const firmware_iface::UnitFacts& facts);

/// Samples between two readings of each inertial sensor of the rig file; those not stated as few as
/// the unit can.
std::array<int, INERTIAL_SENSORS_MAX> inertial_dividers(const RigConfig& rig,
                                                        const firmware_iface::UnitFacts& facts);

/// The limits with the times that follow from how often sensors are read.
SafetyLimits with_reading_times(SafetyLimits limits, const RigConfig& rig,
                                const firmware_iface::UnitFacts& facts);

/// Time between samples by the unit's clock.
Nanoseconds sample_period(const RigConfig& rig, const firmware_iface::UnitFacts& facts);

/// From counts to readings for each inertial sensor of the rig file.
std::array<InertialScale, INERTIAL_SENSORS_MAX> inertial_scales(const RigConfig& rig);

/// From counts to angle for each channel of the rig file.
std::array<ChannelScale, kJointsMax> channel_scales(const RigConfig& rig);

}  // namespace daq
