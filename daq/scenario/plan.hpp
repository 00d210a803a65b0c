#pragma once

#include <string>
#include <vector>

#include "daq/scenario/catalog.hpp"

namespace daq {

/// Planned commands of one motor.
struct PlannedMotorCommands {
  std::string joint;
  std::string unit;                  ///< of the control signal
  std::vector<double> command = {};  ///< one value per sample
};

/// The commands that a scenario would send.
struct CommandPlan {
  double period_s = 0.0;
  std::vector<PlannedMotorCommands> motors;  ///< in the order of the rig's motors
};

/// Computes the commands of an open-loop scenario from its start to its end, once per sampling
/// period (`period_s` > 0).
/// @param motors  at least one; their commands are filled in
CommandPlan make_command_plan(Scenario scenario, double period_s,
                              std::vector<PlannedMotorCommands> motors);

/// Returns the planned commands as CSV text that a replay scenario can read. The header is
/// "t_s,command", or "t_s,command_JOINT,..." for several motors. The text has a row for each change
/// of a command and a row for the end.
std::string command_plan_csv(const CommandPlan& plan);

/// Returns a figure of the planned commands over time: a complete SVG document with a chart for
/// each motor.
std::string command_plan_svg(const CommandPlan& plan, const std::string& title);

}  // namespace daq
