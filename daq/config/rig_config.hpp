#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daq/realtime/rt_thread.hpp"
#include "daq/safety/inertial_monitor.hpp"
#include "daq/safety/safety_limits.hpp"

namespace daq {

/// Settings of one encoder channel of the unit.
struct ChannelConfig {
  std::string joint;
  bool slides = false;  ///< the joint slides: m instead of rad, metres instead of turns
  double counts_per_turn = 0.0;
  bool inverted = false;
  double offset_rad = 0.0;
};

/// Settings of one motor of the unit.
struct MotorConfig {
  std::string joint;         ///< joint that it drives
  std::string command_unit;  ///< unit of the control signal, e.g. "V"
  double command_max = 0.0;  ///< largest magnitude that the motor accepts; 0: not given
};

/// Settings of one inertial sensor of the unit.
struct InertialSensorConfig {
  std::string name;
  int divider = 0;  ///< one reading per this many samples; 0: as often as the unit reads it
  InertialScale scale;
};

/// Record of a commissioning in a rig file.
struct CommissionRecord {
  std::string date;  ///< YYYY-MM-DD
  std::string unit_id;
  std::string configuration_hash;  ///< of the unit
  std::string hash;                ///< of the checked settings, see commission_file.hpp
  /// Safety limits at the commissioning; nullopt if the record contains no limits or does not match
  /// the file.
  std::optional<SafetyLimits> limits = {};
};

/// Settings of data acquisition (DAQ) from a rig file (proto/rig.proto).
struct RigConfig {
  std::string path;
  std::string text;  ///< the whole file, stored in the recording
  std::string name;
  std::string unit_url;
  std::vector<ChannelConfig> channel;               ///< in the unit's order
  std::vector<InertialSensorConfig> inertial = {};  ///< in the unit's order
  std::vector<MotorConfig> motor = {};              ///< in the unit's order
  int ttl_ms = 100;
  int divider = 1;
  bool compact = false;
  bool host_paced = false;
  SafetyLimits limits;
  RealTimeSettings real_time;
  std::string commissioned_fields = {};  ///< settings that a commissioning checks
  std::optional<CommissionRecord> commissioned = {};

  /// Returns the index of the joint's channel, or −1 if it has none.
  int find_channel(const std::string& joint) const;
};

/// Purpose for which a rig file is read. The purpose determines the required sections.
enum class RigFilePurpose {
  kDrive,  ///< to drive motors: needs the sections unit and safety
  kWatch,  ///< to read samples: needs unit; without safety, `limits` has no joints
  kPlan,  ///< to plan commands: needs neither; without both, only joints, motors and command limits
          ///< are read
  kSimulate,  ///< to simulate the unit: needs neither; without unit, the unit's channels are the
              ///< joints with encoders in the order of the file; no limits of joints are read
};

/// Reads and checks the settings of data acquisition in a rig file.
/// @throws proto::InputError "FILE:LINE:COLUMN: what; what to do" for a syntax error, an unknown
///     field or joint, a missing section, an invalid limit
RigConfig load_rig_config(const std::string& path, RigFilePurpose use = RigFilePurpose::kDrive);

/// Reads and checks the text of a rig file like load_rig_config. `path` is only used in messages.
RigConfig parse_rig_config(const std::string& path, const std::string& text,
                           RigFilePurpose use = RigFilePurpose::kDrive);

}  // namespace daq
