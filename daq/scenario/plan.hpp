#pragma once

#include <string>
#include <vector>

#include "daq/scenario/catalog.hpp"

namespace daq {

/// A motor of a plan.
struct PlannedMotor {
  std::string joint;
  std::string unit;                  ///< of the control signal
  std::vector<double> command = {};  ///< sample by sample
};

/// The commands a scenario would send.
struct CommandPlan {
  double period_s = 0.0;
  std::vector<PlannedMotor> motors;  ///< in the order of the rig's
};

/// Dry run of an open-loop scenario from its start to its end, `period_s` > 0.
/// @param motors  at least one; their commands are filled
CommandPlan make_plan(Scenario scenario, double period_s, std::vector<PlannedMotor> motors);

/// "t_s,command", or "t_s,command_JOINT,..." for several motors: a row for each change, held until
/// the next, and a last row for the end. A file that the replay scenario reads.
std::string plan_csv(const CommandPlan& plan);

/// A picture of the plan: a complete SVG document with a chart for each motor, whose axes are in
/// seconds and the command's unit.
std::string plan_svg(const CommandPlan& plan, const std::string& title);

}  // namespace daq
