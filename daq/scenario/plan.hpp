#pragma once

#include <string>
#include <vector>

#include "daq/scenario/catalog.hpp"

namespace daq {

/// Planned commands of one motor.
struct PlannedMotor {
  std::string joint;
  std::string unit;                  ///< of the control signal
  std::vector<double> command = {};  ///< one value per sample
};

/// The commands that a scenario would send.
struct CommandPlan {
  double period_s = 0.0;
  std::vector<PlannedMotor> motors;  ///< in the order of the rig's motors
};

/// Simulates the commands of an open-loop scenario from its start to its end, `period_s` > 0.
/// @param motors  at least one; their commands are filled in
CommandPlan make_plan(Scenario scenario, double period_s, std::vector<PlannedMotor> motors);

/// Returns the plan as CSV text that the replay scenario reads. The header is "t_s,command", or
/// "t_s,command_JOINT,..." for several motors. Each change of a command has a row, and the end has
/// one.
std::string plan_csv(const CommandPlan& plan);

/// Returns a figure of the plan: a complete SVG document with a chart for each motor. The axes are
/// in seconds and in the command's unit.
std::string plan_svg(const CommandPlan& plan, const std::string& title);

}  // namespace daq
