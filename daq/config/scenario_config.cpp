#include "daq/config/scenario_config.hpp"

#include <algorithm>
#include <sstream>

#include "daq/scenario/scenario_message.hpp"
#include "proto/text/files.hpp"
#include "proto/text/text_file.hpp"

namespace daq {
namespace {

namespace v1 = rigcal::v1;

ScenarioRig scenario_rig(const RigConfig& rig) {
  ScenarioRig facts{.path = rig.path};
  for (const ChannelConfig& channel : rig.channel) facts.hinges.push_back(channel.hinge);
  if (!rig.motor_hinge.empty()) facts.motors.push_back(rig.motor_hinge);
  return facts;
}

double tighter(double limit, double wish) { return wish > 0.0 ? std::min(limit, wish) : limit; }

SafetyLimits tighten(const SafetyLimits& rig, const v1::Limits& wishes,
                     const proto::TextLocator& place) {
  SafetyLimits limits = rig;
  limits.command_max = tighter(limits.command_max, wishes.command_max());
  limits.command_slew_per_s_max = tighter(limits.command_slew_per_s_max, wishes.command_slew_max());
  for (int i = 0; i < wishes.hinge_size(); ++i) {
    const v1::HingeLimit& wish = wishes.hinge(i);
    const auto joint =
        std::find_if(limits.joint.begin(), limits.joint.end(),
                     [&](const JointLimits& entry) { return entry.hinge == wish.hinge(); });
    if (joint == limits.joint.end()) {
      place.at("hinge", i).fail("hinge \"" + wish.hinge() + "\" has no channel in the rig file");
    }
    if (wish.angle_rad_max() > 0.0) {
      joint->angle_rad_max = std::min(joint->angle_rad_max, wish.angle_rad_max());
      joint->angle_rad_min = std::max(joint->angle_rad_min, -wish.angle_rad_max());
    }
    joint->speed_rad_per_s_max = tighter(joint->speed_rad_per_s_max, wish.speed_rad_per_s_max());
  }
  const std::vector<std::string> faults = find_faults(limits);
  if (!faults.empty()) place.fail(faults.front());
  return limits;
}

}  // namespace

ScenarioConfig load_scenario_config(const std::string& path, const RigConfig& rig) {
  return parse_scenario_config(path, proto::read_file(path), rig);
}

ScenarioConfig parse_scenario_config(const std::string& path, const std::string& text,
                                     const RigConfig& rig) {
  v1::Scenario source;
  proto::TextLocator::Tree tree;
  proto::parse_text(path, text, source, tree);
  const proto::TextLocator root(path, source.GetDescriptor(), &tree);
  Scenario scenario = make_scenario(source, path, root, scenario_rig(rig)).scenario;
  const SafetyLimits limits = tighten(rig.limits, source.limits(), root.at("limits"));
  if (const double peak = scenario.command_peak(); !(peak <= limits.command_max)) {
    std::ostringstream what;
    what << "asks for up to " << peak << " " << rig.command_unit << ", allowed are "
         << limits.command_max << " (" << rig.path
         << ", safety.command_max, or this file's limits); lower the command";
    root.fail(what.str());
  }
  return {path, text, std::move(scenario), limits};
}

}  // namespace daq
