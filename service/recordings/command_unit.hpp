#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/rig/recording_format.hpp"

namespace service {

/// Unit of a motor's command, and its size in the unit of the rig file.
struct CommandUnit {
  std::string unit;
  double scale = 1.0;
  /// Whether the unit is unambiguous: it is in brackets, or it is not a single letter, which may be
  /// the name of a motor or a phase, as in "motor_A".
  bool is_certain = false;
};

/// Returns the unit at the end of a command column's name, such as "mV" or "[mA]"; nullopt if the
/// name ends with no unit.
std::optional<CommandUnit> find_command_unit(const std::string& name);

/// Returns why the unit that a recording states for a motor's command contradicts the rig file,
/// without a remedy; empty if it does not. Units that rigcal does not
/// know, such as "1", contradict nothing.
/// @param stated    unit of the recording; empty if unknown
/// @param rig_unit  control_unit of the motor
std::string describe_unit_contradiction(const std::string& stated, const std::string& joint,
                                        const std::string& rig_unit);

/// Checks that the unit in the name of a command column is that of the motor. The rig file's
/// scale of the column is a conversion, after which nothing is checked.
/// @param label  name of the column, with the unit below the header if there is one
/// @param where  location for the message
/// @throws proto::InputError with the conversion factor, or with advice on how to specify it
void check_command_unit(const ControlColumn& control, const std::string& label,
                        const std::string& where);

/// Returns the note on commands that are probably in another unit than the motor's: all values are
/// between −1 and 1, as for a duty cycle, although the range of the motor is several times larger.
/// Empty if there is no such doubt.
/// @param values  commands in the recording
std::string describe_doubtful_commands(const ControlColumn& control, const std::string& label,
                                       const std::vector<double>& values);

}  // namespace service
