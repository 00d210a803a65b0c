#include "daq/config/part_config.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "proto/notation/number_format.hpp"

namespace daq {
namespace {

namespace v1 = rigcal::v1;

// A sensor with a range of ±2048 counts reads at most +2047.
constexpr double kFullScale = 1.0 - 1e-3;
constexpr double kStuckDefault_ms = 100.0;
constexpr double kSaturatedDefault_ms = 100.0;

/// Sets the scale of the three axes of a gyroscope or accelerometer.
void set_axes(std::size_t first, double counts_per_unit, double range, InertialScale& scale) {
  double most = INERTIAL_COUNTS_MAX;
  if (range > 0.0) most = std::min(most, std::floor(kFullScale * range * counts_per_unit));
  for (std::size_t axis = first; axis < first + 3; ++axis) {
    scale.si_per_count[axis] = 1.0 / counts_per_unit;
    scale.counts_max[axis] = static_cast<std::int16_t>(most);
  }
}

InertialConfig read_sensor(const v1::UnitInertial& source, const v1::Rig& rig,
                           const proto::TextLocator& place) {
  const auto found = std::ranges::find(rig.inertial_sensor(), source.sensor(),
                                       [](const auto& sensor) { return sensor.name(); });
  if (found == rig.inertial_sensor().end()) {
    place.at("sensor").fail("unknown inertial sensor \"" + source.sensor() +
                            "\"; use one of this file's inertial_sensor { }");
  }
  const auto counts = [&](double stated, const char* field, const char* instrument) {
    if (stated > 0.0) return stated;
    place.at("sensor").fail("inertial sensor \"" + source.sensor() + "\" has no " + instrument +
                            " { " + field + ": ... }; rigcal-daq needs it");
  };
  InertialConfig sensor{
      .name = source.sensor(), .divider = static_cast<int>(source.divider()), .scale = {}};
  if (found->has_gyroscope()) {
    const v1::Gyroscope& gyro = found->gyroscope();
    set_axes(0, counts(gyro.counts_per_rad_per_s(), "counts_per_rad_per_s", "gyroscope"),
             gyro.range_rad_per_s(), sensor.scale);
  }
  if (found->has_accelerometer()) {
    const v1::Accelerometer& accel = found->accelerometer();
    set_axes(3, counts(accel.counts_per_m_per_s2(), "counts_per_m_per_s2", "accelerometer"),
             accel.range_m_per_s2(), sensor.scale);
  }
  return sensor;
}

double seconds_or(double stated_ms, double otherwise_ms) {
  return 1e-3 * (stated_ms == 0.0 ? otherwise_ms : stated_ms);
}

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

std::vector<InertialConfig> read_inertial(const v1::Rig& rig, const proto::TextLocator& place) {
  const v1::Unit& unit = rig.unit();
  if (unit.inertial_size() > INERTIAL_SENSORS_MAX) {
    place.at("inertial", INERTIAL_SENSORS_MAX)
        .fail("a unit reads at most " + std::to_string(INERTIAL_SENSORS_MAX) +
              " inertial sensors; remove this one");
  }
  std::vector<InertialConfig> sensors;
  for (int i = 0; i < unit.inertial_size(); ++i) {
    InertialConfig sensor = read_sensor(unit.inertial(i), rig, place.at("inertial", i));
    if (std::ranges::count(sensors, sensor.name, &InertialConfig::name) > 0) {
      place.at("inertial", i)
          .fail("inertial sensor \"" + sensor.name + "\" is listed twice; remove one entry");
    }
    sensors.push_back(std::move(sensor));
  }
  return sensors;
}

std::vector<InertialLimits> read_inertial_limits(const v1::Safety& safety,
                                                 const std::vector<InertialConfig>& sensors,
                                                 const proto::TextLocator& place) {
  std::vector<InertialLimits> limits;
  for (const InertialConfig& sensor : sensors) {
    limits.push_back({.sensor = sensor.name,
                      .stuck_s_max = 1e-3 * kStuckDefault_ms,
                      .saturated_s_max = 1e-3 * kSaturatedDefault_ms,
                      .counts_max = sensor.scale.counts_max});
  }
  for (int i = 0; i < safety.inertial_size(); ++i) {
    const v1::InertialSafety& source = safety.inertial(i);
    const auto found = std::ranges::find(limits, source.sensor(), &InertialLimits::sensor);
    if (found == limits.end()) {
      place.at("inertial", i)
          .fail("the unit reads no inertial sensor \"" + source.sensor() +
                "\"; list it in unit { inertial { sensor: ... } } or remove this");
    }
    if (found->stops_run) {
      place.at("inertial", i)
          .fail("inertial sensor \"" + source.sensor() +
                "\" has limits twice; remove one of the two");
    }
    found->stops_run = true;
    found->missing_s_max = seconds_or(source.missing_ms_max(), 0.0);
    found->stuck_s_max = seconds_or(source.stuck_ms_max(), kStuckDefault_ms);
    found->saturated_s_max = seconds_or(source.saturated_ms_max(), kSaturatedDefault_ms);
  }
  return limits;
}

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
