#include "daq/config/scenario_config.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "daq/scenario/scenario_message.hpp"
#include "proto/text/files.hpp"
#include "proto/text/text_file.hpp"

namespace daq {
namespace {

namespace v1 = rigcal::v1;

ScenarioRig scenario_rig(const RigConfig& rig) {
  ScenarioRig facts{.path = rig.path};
  for (const ChannelConfig& channel : rig.channel) {
    facts.joints.push_back(channel.joint);
    facts.slides.push_back(channel.slides);
  }
  for (const MotorConfig& motor : rig.motor) facts.motors.push_back(motor.joint);
  return facts;
}

// The scenario's bound is a magnitude, the rig's may differ on the two sides.
void tighten_angle(JointLimits& joint, double wish, const char* field,
                   const proto::TextLocator& place) {
  if (wish == 0.0) return;
  const double widest = std::max(std::abs(joint.angle_rad_min), std::abs(joint.angle_rad_max));
  merge_limit(widest, wish, field, place);
  joint.angle_rad_max = std::min(joint.angle_rad_max, wish);
  joint.angle_rad_min = std::max(joint.angle_rad_min, -wish);
}

void tighten_joint(JointLimits& joint, const v1::JointLimit& wish,
                   const proto::TextLocator& place) {
  const auto refuse = [&](double number, const char* field) {
    if (number == 0.0) return;
    place.at(field).fail("joint \"" + joint.joint + "\" " + (joint.slides ? "slides" : "turns") +
                         "; instead of " + field + " limit its " +
                         (joint.slides ? "position_m_max and speed_m_per_s_max"
                                       : "angle_rad_max and speed_rad_per_s_max"));
  };
  refuse(joint.slides ? wish.angle_rad_max() : wish.position_m_max(),
         joint.slides ? "angle_rad_max" : "position_m_max");
  refuse(joint.slides ? wish.speed_rad_per_s_max() : wish.speed_m_per_s_max(),
         joint.slides ? "speed_rad_per_s_max" : "speed_m_per_s_max");
  const char* const speed = joint.slides ? "speed_m_per_s_max" : "speed_rad_per_s_max";
  if (joint.slides) {
    tighten_angle(joint, wish.position_m_max(), "position_m_max", place);
  } else {
    tighten_angle(joint, wish.angle_rad_max(), "angle_rad_max", place);
  }
  joint.speed_rad_per_s_max = merge_limit(
      joint.speed_rad_per_s_max,
      joint.slides ? wish.speed_m_per_s_max() : wish.speed_rad_per_s_max(), speed, place);
}

SafetyLimits tighten(const SafetyLimits& rig, const std::vector<CommandLimits>& commands,
                     const v1::Limits& wishes, const proto::TextLocator& place) {
  SafetyLimits limits = rig;
  for (std::size_t m = 0; m < commands.size(); ++m) {
    limits.motor[m].command_max = commands[m].command_max;
    limits.motor[m].command_slew_per_s_max = commands[m].command_slew_per_s_max;
  }
  for (int i = 0; i < wishes.joint_size(); ++i) {
    const v1::JointLimit& wish = wishes.joint(i);
    const proto::TextLocator where = place.at("joint", i);
    const auto joint =
        std::find_if(limits.joint.begin(), limits.joint.end(),
                     [&](const JointLimits& entry) { return entry.joint == wish.joint(); });
    if (joint == limits.joint.end()) {
      where.fail("joint \"" + wish.joint() + "\" has no channel in the rig file");
    }
    tighten_joint(*joint, wish, where);
  }
  const std::vector<std::string> faults = find_limit_errors(limits);
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
  const ScenarioRig facts = scenario_rig(rig);
  Scenario scenario = make_scenario(source, path, root, facts);
  std::vector<CommandLimits> commands;
  for (const MotorLimits& motor : rig.limits.motor) {
    commands.push_back({motor.command_max, motor.command_slew_per_s_max});
  }
  commands = merge_command_limits(std::move(commands), source.limits(), root);
  const bool only_plan = rig.limits.joint.empty();  // read for RigFilePurpose::kPlan
  const SafetyLimits limits =
      only_plan ? rig.limits : tighten(rig.limits, commands, source.limits(), root.at("limits"));
  std::vector<std::string> units;
  for (const MotorConfig& motor : rig.motor) units.push_back(motor.command_unit);
  check_command_limits(scenario, commands, units, facts, root);
  return {path, text, std::move(scenario), limits};
}

}  // namespace daq
