#include "daq/config/joint_drive_config.hpp"

#include <algorithm>
#include <numbers>

#include "proto/notation/number_format.hpp"

namespace daq {
namespace {

namespace v1 = rigcal::v1;

double first_of(double own, double common, double otherwise) {
  return own > 0.0 ? own : common > 0.0 ? common : otherwise;
}

/// Reads the motor of a joint and its stall limits, if the joint has one.
void read_motor_limits_of_joint(const v1::Rig& rig, const RigConfig& config,
                                const std::string& joint, const proto::TextLocator& place,
                                JointDrive& motion) {
  const auto found = std::ranges::find(config.motor, joint, &MotorConfig::joint);
  if (found == config.motor.end()) return;
  motion.motor = static_cast<int>(found - config.motor.begin());
  const auto driven = std::ranges::find(rig.joint(), joint, &v1::Joint::name);
  motion.gain_sign = driven->motor().gain().value() < 0.0 ? -1.0 : 1.0;
  const v1::Safety& safety = rig.safety();
  const auto listed = std::ranges::find(safety.motor(), joint, &v1::MotorSafety::joint);
  const v1::Stall own = listed == safety.motor().end() ? v1::Stall() : listed->stall();
  const double command_max =
      config.limits.motor[static_cast<std::size_t>(motion.motor)].command_max;
  motion.stall_command =
      first_of(own.command(), safety.stall().command(), kStallShareDefault * command_max);
  motion.stall_time_s = first_of(own.time_s(), safety.stall().time_s(), kStallTimeDefault_s);
  if (motion.stall_command <= command_max) return;
  const auto index = static_cast<int>(listed - safety.motor().begin());
  (own.command() > 0.0 ? place.at("motor", index) : place)
      .at("stall")
      .at("command")
      .fail("is above command_max, " + notation::format_number(command_max) +
            ": the motor of joint \"" + joint +
            "\" would never be checked for a stall; give the smallest command that moves it");
}

}  // namespace

std::vector<JointDrive> read_joint_motion(const v1::Rig& rig, const RigConfig& config,
                                          const proto::TextLocator& place) {
  std::vector<JointDrive> all;
  for (const ChannelConfig& channel : config.channel) {
    const double whole = channel.slides ? 1.0 : 2.0 * std::numbers::pi;
    JointDrive motion{.rad_per_count =
                          (channel.inverted ? -whole : whole) / channel.counts_per_turn};
    const auto limits =
        std::ranges::find(rig.safety().joint(), channel.joint, &v1::JointSafety::joint);
    motion.is_unaffected = limits->may_stand_still();
    const auto joint = std::ranges::find(rig.joint(), channel.joint, &v1::Joint::name);
    if (joint != rig.joint().end()) {
      if (joint->stops().has_lower()) motion.stop_rad_min = joint->stops().lower().value();
      if (joint->stops().has_upper()) motion.stop_rad_max = joint->stops().upper().value();
    }
    read_motor_limits_of_joint(rig, config, channel.joint, place, motion);
    all.push_back(motion);
  }
  return all;
}

}  // namespace daq
