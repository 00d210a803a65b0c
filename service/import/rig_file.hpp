#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "estimator/doctor/signal_examination.hpp"
#include "estimator/model/mechanism.hpp"
#include "service/import/recording_format.hpp"

namespace service {

/// Limits of a motor's command by the rig file's safety section; 0: not stated.
struct CommandSafety {
  double command_max = 0.0;
  double command_slew_per_s_max = 0.0;
};

/// What a rig file says of a hinge beyond the mechanism.
struct HingeFacts {
  std::string control_unit;             ///< of the motor's control signal; empty without a motor
  double control_max = 0.0;             ///< largest magnitude of the control signal; 0: not stated
  std::optional<CommandSafety> safety;  ///< absent in files that are only calibrated
};

/// What a rig file says of an encoder beyond the mechanism.
struct EncoderFacts {
  double counts = 0.0;                  ///< per turn, or per metre of what slides; 0: not stated
  const char* counts_of = "";           ///< "turn" or "m" (JointTraits::count_unit)
  double count = 0.0;                   ///< what one is [rad or m]; 0: not stated
  std::string place = {};               ///< where the file tells of it, "FILE:LINE:COLUMN"
  estimator::SensorLimits limits = {};  ///< of the joint, by the safety section
};

/// Contents of a rig file (proto/rig.proto).
struct Rig {
  std::string path;
  estimator::Mechanism mechanism;
  std::vector<HingeFacts> hinge_facts;    ///< one per hinge
  std::vector<EncoderFacts> encoders;     ///< one per sensor of the mechanism (sensors_of)
  std::optional<RecordingFormat> format;  ///< absent when the file describes no recordings
  /// Where priors stand in the file, by the names of their parameters.
  std::map<std::string, std::string> prior_places = {};
};

/// Reads and checks a rig file.
/// @throws proto::InputError "FILE:LINE:COLUMN: what; what to do" for a syntax error, unknown
/// field,
///         unknown or repeated name, inertia no body can have, bounds that exclude the value, …
Rig load_rig(const std::string& path);

/// The same for text that is already in memory; `path` is used in messages.
Rig parse_rig(const std::string& path, const std::string& text);

}  // namespace service
