#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "estimator/diagnostics/signal_examination.hpp"
#include "estimator/model/mechanism.hpp"
#include "service/import/recording_format.hpp"

namespace service {

/// Limits of a motor's command from the rig file's safety section; 0: not given.
struct CommandSafety {
  double command_max = 0.0;
  double command_slew_per_s_max = 0.0;
};

/// Data of a joint in a rig file beyond the mechanism.
struct JointFacts {
  std::string control_unit;             ///< unit of the control signal; empty without a motor
  double control_max = 0.0;             ///< largest magnitude of the control signal; 0: unknown
  std::optional<CommandSafety> safety;  ///< absent in files without safety { }
};

/// Data of an encoder in a rig file beyond the mechanism.
struct EncoderFacts {
  double counts = 0.0;                  ///< per turn, or per metre for prismatic joints; 0: unknown
  const char* counts_of = "";           ///< "turn" or "m" (JointTraits::count_unit)
  double count = 0.0;                   ///< size of one count [rad or m]; 0: unknown
  std::string place = {};               ///< location in the file, "FILE:LINE:COLUMN"
  estimator::SensorLimits limits = {};  ///< limits of the joint from the safety section
};

/// Contents of a rig file (proto/rig.proto).
struct Rig {
  std::string path;
  estimator::Mechanism mechanism;
  std::vector<JointFacts> joint_facts;    ///< one per joint
  std::vector<EncoderFacts> encoders;     ///< one per encoder of the mechanism (used_encoders)
  std::optional<RecordingFormat> format;  ///< absent without recording { }
  /// Locations of priors in the file, by parameter name.
  std::map<std::string, std::string> prior_locations = {};
};

/// Reads and checks a rig file.
/// @throws proto::InputError "FILE:LINE:COLUMN: message; remedy" for syntax errors, unknown fields,
///         unknown or repeated names, physically inconsistent inertias, bounds that exclude the
///         value, …
Rig load_rig(const std::string& path);

/// The same for text in memory; `path` is used in messages.
Rig parse_rig(const std::string& path, const std::string& text);

}  // namespace service
