#include "daq/config/motion_config.hpp"

#include <algorithm>
#include <numbers>

#include "proto/notation/number_format.hpp"

namespace daq {
namespace {

namespace v1 = rigcal::v1;

double first_of(double own, double common, double otherwise) {
  return own > 0.0 ? own : common > 0.0 ? common : otherwise;
}

/// Reads the joint's motor, if it has one.
void read_drive(const v1::Rig& rig, const RigConfig& config, const std::string& joint,
                const proto::TextLocator& place, JointMotion& motion) {
  const auto found = std::ranges::find(config.motor, joint, &MotorConfig::joint);
  if (found == config.motor.end()) return;
  motion.motor = static_cast<int>(found - config.motor.begin());
  const auto hinge = std::ranges::find(rig.hinge(), joint, &v1::Hinge::name);
  motion.gain_sign = hinge->motor().gain().value() < 0.0 ? -1.0 : 1.0;
  const v1::Safety& safety = rig.safety();
  const auto listed = std::ranges::find(safety.motor(), joint, &v1::MotorSafety::hinge);
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

std::vector<JointMotion> read_joint_motion(const v1::Rig& rig, const RigConfig& config,
                                           const proto::TextLocator& place) {
  std::vector<JointMotion> all;
  for (const ChannelConfig& channel : config.channel) {
    const double whole = channel.slides ? 1.0 : 2.0 * std::numbers::pi;
    JointMotion motion{.rad_per_count =
                           (channel.inverted ? -whole : whole) / channel.counts_per_turn};
    const auto limits =
        std::ranges::find(rig.safety().hinge(), channel.hinge, &v1::HingeSafety::hinge);
    motion.is_unaffected = limits->unaffected_by_motors();
    const auto hinge = std::ranges::find(rig.hinge(), channel.hinge, &v1::Hinge::name);
    if (hinge != rig.hinge().end()) {
      if (hinge->stops().has_lower()) motion.stop_rad_min = hinge->stops().lower().value();
      if (hinge->stops().has_upper()) motion.stop_rad_max = hinge->stops().upper().value();
    }
    read_drive(rig, config, channel.hinge, place, motion);
    all.push_back(motion);
  }
  return all;
}

}  // namespace daq
