#include "daq/config/rig_config.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "daq/config/commission_file.hpp"
#include "daq/scenario/command_limits.hpp"
#include "proto/notation/number_format.hpp"
#include "proto/rig.pb.h"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/rig_rules.hpp"
#include "proto/text/text_file.hpp"

namespace daq {
namespace {

namespace v1 = rigcal::v1;

constexpr int kTtlDefault_ms = 100;
constexpr double kMissingDefault_ms = 10.0;
constexpr double kStalenessDefault_ms = 50.0;
constexpr double kTickPeriod_s = 1e-3;  // usual tick of a unit, for defaults only
constexpr double kJumpDefaultPeriods = 10.0;

double or_default(double value, double otherwise) { return value == 0.0 ? otherwise : value; }

const v1::Joint* find_joint(const v1::Rig& rig, const std::string& name) {
  const auto found = std::find_if(rig.joint().begin(), rig.joint().end(),
                                  [&](const v1::Joint& joint) { return joint.name() == name; });
  return found == rig.joint().end() ? nullptr : &*found;
}

/// An encoder found by the name of its joint, or by its own name if it is between two bodies.
struct NamedEncoder {
  v1::Encoder encoder;
  bool slides;
};

NamedEncoder find_encoder(const v1::Rig& rig, const std::string& name,
                          const proto::TextLocator& place) {
  if (const v1::Joint* joint = find_joint(rig, name)) {
    if (joint->type() == v1::Joint::FIXED) {
      place.at("joint").fail("joint \"" + name + "\" is fixed; use a joint that moves");
    }
    return {joint->encoder(), joint->type() == v1::Joint::PRISMATIC};
  }
  for (const v1::BodyEncoder& each : rig.body_encoder()) {
    if (each.name() == name) return {each.encoder(), each.encoder().counts_per_m() > 0.0};
  }
  place.at("joint").fail("unknown joint \"" + name + "\"; use a joint of this file");
}

ChannelConfig read_channel(const v1::UnitChannel& source, const v1::Rig& rig,
                           const proto::TextLocator& place) {
  const auto [encoder, slides] = find_encoder(rig, source.joint(), place);
  const double counts = slides ? encoder.counts_per_m() : encoder.counts_per_turn();
  if (!(counts > 0.0)) {
    place.at("joint").fail("joint \"" + source.joint() + "\" has no encoder { counts_per_" +
                           (slides ? "m" : "turn") + ": ... }; rigcal-daq needs it");
  }
  proto::require_kind(source.joint(), slides, source, {"offset_rad"}, {"offset_m"}, place);
  return {source.joint(), slides, counts, source.inverted(),
          slides ? source.offset_m() : source.offset_rad()};
}

void read_unit(const v1::Rig& rig, const proto::TextLocator& place, RigConfig& config) {
  const v1::Unit& unit = rig.unit();
  config.unit_url = unit.url();
  config.ttl_ms = unit.ttl_ms() == 0 ? kTtlDefault_ms : static_cast<int>(unit.ttl_ms());
  config.divider = unit.divider() == 0 ? 1 : static_cast<int>(unit.divider());
  config.compact = unit.compact();
  config.host_paced = unit.host_paced();
  if (unit.has_commissioned()) {
    const v1::Commissioned& record = unit.commissioned();
    config.commissioned = {record.date(), record.unit_id(), record.configuration_hash(),
                           record.hash(), std::nullopt};
  }
  if (unit.channel_size() == 0 || unit.channel_size() > static_cast<int>(kJointsMax)) {
    place.fail("needs 1 to " + std::to_string(kJointsMax) +
               " channels; write channel { joint: \"...\" } for each encoder, in the unit's order");
  }
  for (int i = 0; i < unit.channel_size(); ++i) {
    config.channel.push_back(read_channel(unit.channel(i), rig, place.at("channel", i)));
    if (config.find_channel(unit.channel(i).joint()) != i) {
      place.at("channel", i)
          .fail("joint \"" + unit.channel(i).joint() + "\" has two channels; remove one");
    }
  }
}

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

InertialSensorConfig read_sensor(const v1::UnitInertial& source, const v1::Rig& rig,
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
  InertialSensorConfig sensor{
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

/// Reads the inertial sensors listed in the unit section of a rig file, in the order of the list.
/// @param place  location of the unit section in the file
/// @throws proto::InputError for an unknown sensor, one listed twice, or one without counts
std::vector<InertialSensorConfig> read_inertial(const v1::Rig& rig,
                                                const proto::TextLocator& place) {
  const v1::Unit& unit = rig.unit();
  if (unit.inertial_size() > INERTIAL_SENSORS_MAX) {
    place.at("inertial", INERTIAL_SENSORS_MAX)
        .fail("a unit reads at most " + std::to_string(INERTIAL_SENSORS_MAX) +
              " inertial sensors; remove this one");
  }
  std::vector<InertialSensorConfig> sensors;
  for (int i = 0; i < unit.inertial_size(); ++i) {
    InertialSensorConfig sensor = read_sensor(unit.inertial(i), rig, place.at("inertial", i));
    if (std::ranges::count(sensors, sensor.name, &InertialSensorConfig::name) > 0) {
      place.at("inertial", i)
          .fail("inertial sensor \"" + sensor.name + "\" is listed twice; remove one entry");
    }
    sensors.push_back(std::move(sensor));
  }
  return sensors;
}

/// Reads the limits of inertial sensors from the safety section of a rig file. An omitted longest
/// time without a reading is 0, because its default depends on the unit.
/// @param place  location of the safety section in the file
/// @throws proto::InputError for a sensor that the unit does not read, or that is limited twice
std::vector<InertialLimits> read_inertial_limits(const v1::Safety& safety,
                                                 const std::vector<InertialSensorConfig>& sensors,
                                                 const proto::TextLocator& place) {
  std::vector<InertialLimits> limits;
  for (const InertialSensorConfig& sensor : sensors) {
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

/// Reads the drive and the end stops of each joint with a channel, in the order of the channels.
/// Needs only the command limits of `config`.
/// @param place  location of the safety section in the file
/// @throws proto::InputError for a stall command above the largest command
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

/// Reads the rig's motors, in the order of unit { motor { ... } } if given, else of the file.
void read_motors(const v1::Rig& rig, const proto::TextLocator& place, RigConfig& config) {
  for (int i = 0; i < rig.joint_size(); ++i) {
    if (!rig.joint(i).has_motor()) continue;
    const v1::Motor& motor = rig.joint(i).motor();
    config.motor.push_back({rig.joint(i).name(), motor.control_unit(),
                            proto::read_control_max(motor.control_unit(), motor.control_max(),
                                                    place.at("joint", i).at("motor"))});
  }
  if (config.motor.size() > kMotorsMax) {
    place.fail("has " + std::to_string(config.motor.size()) +
               " motors, but a conversion unit drives at most " + std::to_string(kMotorsMax));
  }
  const v1::Unit& unit = rig.unit();
  if (unit.motor_size() == 0) return;
  std::vector<MotorConfig> ordered;
  for (int i = 0; i < unit.motor_size(); ++i) {
    const auto found = std::ranges::find(config.motor, unit.motor(i).joint(), &MotorConfig::joint);
    if (found == config.motor.end()) {
      place.at("unit")
          .at("motor", i)
          .at("joint")
          .fail("joint \"" + unit.motor(i).joint() +
                "\" has no motor in this file, or is listed twice; "
                "list each joint with a motor once");
    }
    ordered.push_back(*found);
    config.motor.erase(found);
  }
  if (!config.motor.empty()) {
    place.at("unit")
        .at("motor", 0)
        .fail("joint \"" + config.motor.front().joint +
              "\" has a motor, but unit { } does not list it; add motor { joint: \"" +
              config.motor.front().joint + "\" }");
  }
  config.motor = std::move(ordered);
}

/// Reads the command limits of each motor: the motor's own limits, or else the rig's limits.
void read_motor_limits(const v1::Safety& safety, RigConfig& config) {
  for (const MotorConfig& motor : config.motor) {
    const auto own = std::ranges::find(safety.motor(), motor.joint, &v1::MotorSafety::joint);
    const v1::MotorSafety limits = own == safety.motor().end() ? v1::MotorSafety() : *own;
    const CommandLimits command = rig_command_limits(
        or_default(limits.command_max(), safety.command_max()),
        or_default(limits.command_slew_per_s_max(), safety.command_slew_per_s_max()));
    config.limits.motor.push_back(
        {motor.joint, command.command_max, command.command_slew_per_s_max});
  }
}

JointLimits read_joint_limits(const v1::JointSafety& source, bool slides) {
  const double speed = slides ? source.speed_m_per_s_max() : source.speed_rad_per_s_max();
  const double jump = slides ? source.jump_m_max() : source.jump_rad_max();
  return {.joint = source.joint(),
          .angle_rad_min = slides ? source.position_m_min() : source.angle_rad_min(),
          .angle_rad_max = slides ? source.position_m_max() : source.angle_rad_max(),
          .speed_rad_per_s_max = speed,
          .jump_rad_max = or_default(jump, speed * kJumpDefaultPeriods * kTickPeriod_s),
          .missing_s_max = or_default(source.missing_ms_max(), kMissingDefault_ms) * 1e-3,
          .slides = slides};
}

/// @param root  location of the rig in its file
void read_safety(const v1::Rig& rig, const proto::TextLocator& root, RigConfig& config) {
  proto::check_safety(rig, root);
  proto::check_safety_is_complete(rig, root);
  const v1::Safety& safety = rig.safety();
  const proto::TextLocator place = root.at("safety");
  SafetyLimits& limits = config.limits;
  read_motor_limits(safety, config);
  limits.staleness_s_max = or_default(safety.staleness_ms_max(), kStalenessDefault_ms) * 1e-3;
  for (const ChannelConfig& channel : config.channel) {
    limits.joint.push_back(read_joint_limits(
        *std::ranges::find(safety.joint(), channel.joint, &v1::JointSafety::joint),
        channel.slides));
  }
  limits.inertial = read_inertial_limits(safety, config.inertial, place);
  limits.motion = read_joint_motion(rig, config, place);
  const std::vector<std::string> faults = find_limit_errors(limits);
  if (!faults.empty()) place.fail(faults.front());
}

/// Returns the safety limits in the record of the last commissioning.
/// @param root    location of the rig in its file
/// @param config  settings without limits
std::optional<SafetyLimits> read_checked_limits(v1::Rig rig, const proto::TextLocator& root,
                                                RigConfig config) {
  if (!rig.unit().commissioned().has_safety()) return std::nullopt;
  *rig.mutable_safety() = rig.unit().commissioned().safety();
  try {
    read_safety(rig, root, config);
  } catch (const proto::InputError&) {
    return std::nullopt;  // joints, motors or sensors have changed since
  }
  return config.limits;
}

void read_real_time(const v1::RealTime& source, RealTimeSettings& settings) {
  if (source.has_priority()) settings.priority = source.priority();
  if (source.has_cpu()) settings.cpu = source.cpu();
  if (source.has_lock_memory()) settings.lock_memory = source.lock_memory();
}

/// Reads joint names and command limits for a plan, without sections unit and safety.
void read_for_plan(const v1::Rig& rig, const proto::TextLocator& root, RigConfig& config) {
  const double inf = std::numeric_limits<double>::infinity();
  config.divider = rig.unit().divider() == 0 ? 1 : static_cast<int>(rig.unit().divider());
  proto::check_safety(rig, root);
  read_motor_limits(rig.safety(), config);
  for (std::size_t m = 0; m < config.motor.size(); ++m) {
    MotorLimits& limits = config.limits.motor[m];
    if (limits.command_max == 0.0)
      limits.command_max = or_default(config.motor[m].command_max, inf);
    if (limits.command_slew_per_s_max == 0.0) limits.command_slew_per_s_max = inf;
  }
  for (const v1::Joint& joint : rig.joint()) {
    if (joint.type() == v1::Joint::FIXED) continue;
    config.channel.push_back(
        {.joint = joint.name(), .slides = joint.type() == v1::Joint::PRISMATIC});
  }
}

}  // namespace

int RigConfig::find_channel(const std::string& joint) const {
  const auto found = std::find_if(channel.begin(), channel.end(),
                                  [&](const ChannelConfig& entry) { return entry.joint == joint; });
  return found == channel.end() ? -1 : static_cast<int>(found - channel.begin());
}

RigConfig load_rig_config(const std::string& path, RigFilePurpose use) {
  return parse_rig_config(path, proto::read_file(path), use);
}

RigConfig parse_rig_config(const std::string& path, const std::string& text, RigFilePurpose use) {
  v1::Rig rig;
  proto::TextLocator::Tree tree;
  proto::parse_text(path, text, rig, tree);
  const proto::TextLocator root(path, rig.GetDescriptor(), &tree);
  RigConfig config;
  config.path = path;
  config.text = text;
  config.name = rig.name();
  if (use == RigFilePurpose::kPlan && !(rig.has_unit() && rig.has_safety())) {
    read_motors(rig, root, config);
    read_for_plan(rig, root, config);
    return config;
  }
  if (use == RigFilePurpose::kSimulate && !rig.has_unit()) {
    for (const v1::Joint& joint : rig.joint()) {
      if (joint.has_encoder()) rig.mutable_unit()->add_channel()->set_joint(joint.name());
    }
    rig.mutable_unit();
  }
  if (!rig.has_unit()) {
    root.fail(
        "has no unit section, so rigcal-daq cannot record this rig; write unit { url: \"...\" "
        "channel { ... } }, or write the file with rigcal init --unit");
  }
  const bool drives = use == RigFilePurpose::kDrive || use == RigFilePurpose::kPlan;
  if (!rig.has_safety() && drives) {
    root.fail(
        "has no safety section, so rigcal-daq does not move this rig; write safety { command_max: "
        "... joint { ... } }, or write the file with rigcal init --unit");
  }
  read_unit(rig, root.at("unit"), config);
  config.inertial = read_inertial(rig, root.at("unit"));
  read_motors(rig, root, config);
  if (use == RigFilePurpose::kSimulate) {
    proto::check_safety(rig, root);
    read_motor_limits(rig.safety(), config);
  } else if (rig.has_safety()) {
    if (config.commissioned) {
      config.commissioned->limits = read_checked_limits(rig, root, config);
    }
    read_safety(rig, root, config);
  }
  read_real_time(rig.real_time(), config.real_time);
  config.commissioned_fields = commissioned_fields(rig);
  return config;
}

}  // namespace daq
