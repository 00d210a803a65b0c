#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "estimator/diagnostics/signal/signal_examination.hpp"
#include "estimator/model/mechanism.hpp"
#include "proto/check/number_check.hpp"
#include "service/rig/recording_format.hpp"

namespace service {

/// Limits of a motor command in the safety section of a rig file; 0 means no limit.
struct CommandSafetyLimits {
  double command_max = 0.0;
  double command_slew_per_s_max = 0.0;
};

/// Properties of a joint in a rig file that the mechanism model does not contain.
struct JointProperties {
  std::string control_unit;                   ///< unit of the control signal; empty if no motor
  double control_max = 0.0;                   ///< largest |control signal|; 0 if unknown
  std::optional<CommandSafetyLimits> safety;  ///< nullopt if the rig file has no safety { }
};

/// Properties of an encoder in a rig file that the mechanism model does not contain.
struct EncoderProperties {
  double counts = 0.0;                  ///< counts per turn, or per metre (prismatic); 0 if unknown
  const char* counts_of = "";           ///< "turn" or "m" (JointTraits::count_unit)
  double count = 0.0;                   ///< size of one count [rad or m]; 0 if unknown
  std::string place = {};               ///< location in the rig file, "FILE:LINE:COLUMN"
  estimator::SensorLimits limits = {};  ///< safety limits of the joint that it reads
};

/// Contents of a rig file (proto/rig.proto).
struct Rig {
  std::string path;
  estimator::Mechanism mechanism;
  std::vector<JointProperties> joint_properties;  ///< one per joint
  std::vector<EncoderProperties> encoders;   ///< one per encoder of the mechanism (used_encoders)
  std::vector<ContactColumn> contacts;       ///< one per contact of the mechanism
  std::optional<RecordingFormat> format;     ///< nullopt if the file has no recording { }
  /// Location "FILE:LINE:COLUMN" of each prior in the rig file, by parameter name.
  std::map<std::string, std::string> prior_locations = {};
  bool has_unit = false;  ///< whether the file has the section `unit`
  /// Reason why rigcal-daq refuses to drive the conversion unit of the file. Empty if its safety
  /// limits are complete, or if the file has no section `unit`.
  std::string incomplete_safety = {};
};

/// Reads and checks a rig file.
/// @throws proto::InputError "FILE:LINE:COLUMN: message; remedy" for errors such as wrong syntax,
///         unknown fields, unknown or repeated names, physically inconsistent inertias, or bounds
///         that exclude the value
Rig load_rig(const std::string& path);

/// Parses and checks the text of a rig file. Messages use `path` as the name of the file.
Rig parse_rig(const std::string& path, const std::string& text);

/// Rig, with the locations of its parameters in the rig file.
struct RigWithLocations {
  Rig rig;
  /// Path of nested fields to each parameter in the rig file, by parameter name. The file may lack
  /// messages on the path. All parameters of chain { } have the path of chain { }.
  std::map<std::string, std::vector<proto::FieldStep>> places;
};

/// Parses the text of a rig file and finds the locations of its parameters in the text.
RigWithLocations parse_rig_with_locations(const std::string& path, const std::string& text);

}  // namespace service
