#pragma once

#include <string>
#include <vector>

#include "daq/scenario/catalog.hpp"

namespace daq {

/// The commands a scenario would send, sample by sample.
struct CommandPlan {
  double period_s = 0.0;
  std::vector<double> command;  // [unit of the control signal]
};

/// Dry run of an open-loop scenario from its start to its end, `period_s` > 0.
CommandPlan make_plan(Scenario scenario, double period_s);

/// "t_s,command" with a row for each change, held until the next, and a last row for the end: a
/// file that the replay scenario reads.
std::string plan_csv(const CommandPlan& plan);

/// A picture of the plan: a complete SVG document with axes in seconds and the command's unit.
std::string plan_svg(const CommandPlan& plan, const std::string& title, const std::string& unit);

}  // namespace daq
