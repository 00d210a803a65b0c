#include "daq/commands/commands.hpp"

#include "daq/config/commission_file.hpp"
#include "proto/notation/number_format.hpp"

namespace daq {

CommissionNotice check_commissioning(const RigConfig& rig, const firmware_iface::UnitFacts& facts,
                                     const std::string& scenario_path, const Scenario& scenario,
                                     bool is_allowed) {
  constexpr double kShareMax = 0.25;
  CommissionNotice notice{describe(commission_state(rig, facts), rig)};
  if (notice.text.empty() || is_allowed) return notice;
  for (std::size_t m = 0; m < rig.motor.size(); ++m) {
    const double peak = scenario.command_peak(m);
    if (peak <= kShareMax * rig.limits.motor[m].command_max) continue;
    notice.refuses = true;
    notice.text += ", and " + scenario_path + " commands up to " + notation::format_number(peak) +
                   " " + rig.motor[m].command_unit +
                   ", more than 25 % of command_max; commission it with 'rigcal-daq commission "
                   "--rig " +
                   rig.path + "', or give --not-commissioned";
    break;
  }
  return notice;
}

}  // namespace daq
