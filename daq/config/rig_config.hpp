#pragma once

#include <string>
#include <vector>

#include "daq/realtime/rt_thread.hpp"
#include "daq/safety/inertial_monitor.hpp"
#include "daq/safety/safety_limits.hpp"

namespace daq {

/// One channel of the unit.
struct ChannelConfig {
  std::string hinge;
  bool slides = false;  ///< read m for rad, and metre for turn
  double counts_per_turn = 0.0;
  bool inverted = false;
  double offset_rad = 0.0;
};

/// One inertial sensor of the unit.
struct InertialConfig {
  std::string name;
  int divider = 0;  ///< a reading every so many samples; 0: as often as the unit reads it
  InertialScale scale;
};

/// What a rig file (proto/rig.proto) says to the DAQ.
struct RigConfig {
  std::string path;
  std::string text;  ///< the whole file, for the recording
  std::string name;
  std::string unit_url;
  std::vector<ChannelConfig> channel;         ///< in the unit's order
  std::vector<InertialConfig> inertial = {};  ///< in the unit's order
  std::string motor_hinge;   ///< hinge that is driven; empty for a rig without a motor
  std::string command_unit;  ///< unit of the control signal, e.g. "V"
  int ttl_ms = 20;
  int divider = 1;
  bool compact = false;
  bool host_paced = false;
  SafetyLimits limits;
  RealTimeSettings real_time;

  /// Index of the channel of that hinge, or −1.
  int find_channel(const std::string& hinge) const;
};

/// Reads the parts of a rig file that concern the DAQ, and checks them.
/// @throws proto::InputError "FILE:LINE:COLUMN: what; what to do" for a syntax error, an unknown
///         field or hinge, a missing section, an impossible limit
RigConfig load_rig_config(const std::string& path);

/// The same for text that is already in memory; `path` is used in messages.
RigConfig parse_rig_config(const std::string& path, const std::string& text);

/// What a plan of commands takes of a rig file: all of it where it has sections of unit and safety,
/// else the names of joints and motor, and what limits of the command it states. `limits` then has
/// no joints. @throws proto::InputError likewise
RigConfig load_rig_config_for_plan(const std::string& path);

/// The same for text that is already in memory.
RigConfig parse_rig_config_for_plan(const std::string& path, const std::string& text);

}  // namespace daq
