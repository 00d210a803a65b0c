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

// A scenario may ask for less than the rig allows, never for more. 0: nothing is asked.
double tighter(double limit, double wish, const char* field, const proto::TextLocator& place) {
  if (wish == 0.0) return limit;
  if (wish <= limit) return wish;
  std::ostringstream what;
  what << field << " is " << wish << ", the rig file allows " << limit
       << "; lower it or leave it out";
  place.at(field).fail(what.str());
}

// The bound is one of magnitude, the rig's may differ on the two sides.
void tighten_angle(JointLimits& joint, double wish, const char* field,
                   const proto::TextLocator& place) {
  if (wish == 0.0) return;
  const double widest = std::max(std::abs(joint.angle_rad_min), std::abs(joint.angle_rad_max));
  tighter(widest, wish, field, place);
  joint.angle_rad_max = std::min(joint.angle_rad_max, wish);
  joint.angle_rad_min = std::max(joint.angle_rad_min, -wish);
}

void tighten_joint(JointLimits& joint, const v1::HingeLimit& wish,
                   const proto::TextLocator& place) {
  if (joint.slides && (wish.angle_rad_max() != 0.0 || wish.speed_rad_per_s_max() != 0.0)) {
    place.fail("joint \"" + joint.hinge +
               "\" slides; limit its position_m_max and speed_m_per_s_max");
  }
  if (!joint.slides && (wish.position_m_max() != 0.0 || wish.speed_m_per_s_max() != 0.0)) {
    place.fail("joint \"" + joint.hinge +
               "\" turns; limit its angle_rad_max and speed_rad_per_s_max");
  }
  const char* const speed = joint.slides ? "speed_m_per_s_max" : "speed_rad_per_s_max";
  if (joint.slides) {
    tighten_angle(joint, wish.position_m_max(), "position_m_max", place);
  } else {
    tighten_angle(joint, wish.angle_rad_max(), "angle_rad_max", place);
  }
  joint.speed_rad_per_s_max =
      tighter(joint.speed_rad_per_s_max,
              joint.slides ? wish.speed_m_per_s_max() : wish.speed_rad_per_s_max(), speed, place);
}

SafetyLimits tighten(const SafetyLimits& rig, const v1::Limits& wishes,
                     const proto::TextLocator& place) {
  SafetyLimits limits = rig;
  limits.command_max = tighter(limits.command_max, wishes.command_max(), "command_max", place);
  limits.command_slew_per_s_max =
      tighter(limits.command_slew_per_s_max, wishes.command_slew_max(), "command_slew_max", place);
  for (int i = 0; i < wishes.hinge_size(); ++i) {
    const v1::HingeLimit& wish = wishes.hinge(i);
    const proto::TextLocator where = place.at("hinge", i);
    const auto joint =
        std::find_if(limits.joint.begin(), limits.joint.end(),
                     [&](const JointLimits& entry) { return entry.hinge == wish.hinge(); });
    if (joint == limits.joint.end()) {
      where.fail("hinge \"" + wish.hinge() + "\" has no channel in the rig file");
    }
    tighten_joint(*joint, wish, where);
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
