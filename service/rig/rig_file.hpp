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

/// Limits of a motor's command from the safety section of the rig file. A limit that is not given
/// is 0.
struct CommandSafety {
  double command_max = 0.0;
  double command_slew_per_s_max = 0.0;
};

/// Properties of a joint that the rig file gives but the mechanism model does not contain.
struct JointFacts {
  std::string control_unit;             ///< unit of the control signal; empty if no motor
  double control_max = 0.0;             ///< largest |control signal|; 0 if unknown
  std::optional<CommandSafety> safety;  ///< nullopt if the rig file has no safety { }
};

/// Properties of an encoder that the rig file gives but the mechanism model does not contain.
struct EncoderFacts {
  double counts = 0.0;                  ///< counts per turn, prismatic: per metre; 0 if unknown
  const char* counts_of = "";           ///< "turn" or "m" (JointTraits::count_unit)
  double count = 0.0;                   ///< size of one count [rad or m]; 0 if unknown
  std::string place = {};               ///< location in the rig file, "FILE:LINE:COLUMN"
  estimator::SensorLimits limits = {};  ///< safety limits of the joint that it reads
};

/// Contents of a rig file (proto/rig.proto).
struct Rig {
  std::string path;
  estimator::Mechanism mechanism;
  std::vector<JointFacts> joint_facts;    ///< one per joint
  std::vector<EncoderFacts> encoders;     ///< one per encoder of the mechanism (used_encoders)
  std::optional<RecordingFormat> format;  ///< nullopt if the file has no recording { }
  /// Location of each prior in the rig file, by parameter name.
  std::map<std::string, std::string> prior_locations = {};
};

/// Reads and checks a rig file.
/// @throws proto::InputError "FILE:LINE:COLUMN: message; remedy" for syntax errors, unknown fields,
///         unknown or repeated names, physically inconsistent inertias, bounds that exclude the
///         value, …
Rig load_rig(const std::string& path);

/// Parses and checks the text of a rig file. Messages use `path` as the name of the file.
/// @throws proto::InputError like load_rig
Rig parse_rig(const std::string& path, const std::string& text);

/// Rig with the locations of its parameters in the rig file.
struct LocatedRig {
  Rig rig;
  /// Path of message fields that leads to each parameter in the rig file, by parameter name. The
  /// file may lack messages on the path. All parameters of chain { } have the path of chain { }.
  std::map<std::string, std::vector<proto::FieldStep>> places;
};

/// Parses the text of a rig file and locates its parameters.
/// @throws proto::InputError like parse_rig
LocatedRig parse_located_rig(const std::string& path, const std::string& text);

}  // namespace service
