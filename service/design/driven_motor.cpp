#include "service/design/driven_motor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "estimator/model/encoder.hpp"
#include "proto/text/input_error.hpp"
#include "service/design/plan_shape.hpp"
#include "service/simulation/scenario.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

using estimator::JointParameter;

constexpr int kPushes = 4;  // two in each direction
/// Duration of a push without motion. A push to 25 % of the command limit then exceeds the default
/// stall command of 5 % for 0.64 s, less than the default stall time.
constexpr double kRise_s = 0.8;
constexpr double kPushRest_s = 1.5;
constexpr double kPushRestFactor = 3.0;      // longest wait for rest before a push
constexpr double kPushMotionMax = 0.2;       // [rad]; a tenth of it in metres
constexpr double kPushRangeShare = 0.05;     // of the joint's range
constexpr double kPushRangeShareMax = 0.25;  // of the joint's range, with a coarse encoder
constexpr double kPushCounts = 6.0;          // smallest motion that ends a push
constexpr double kSlideScale = 0.1;          // [m] per [rad]
constexpr double kStillCounts = 3.0;         // largest change of a reading at rest
constexpr double kCommandShareMax = 0.99;    // a rounded command must not exceed its limit

/// Returns the joint's motion that ends a test push: small, but several encoder counts.
double test_push_motion(const EncoderProperties& encoder, double scale) {
  double motion = kPushMotionMax * scale;
  const double range = encoder.limits.highest - encoder.limits.lowest;
  if (range > 0.0) motion = std::min(motion, kPushRangeShare * range);
  motion = std::max(motion, kPushCounts * encoder.count);
  return range > 0.0 ? std::min(motion, kPushRangeShareMax * range) : motion;
}

/// Returns the largest dry friction torque of a joint at rest [N·m or N], without load friction.
double breakaway_torque(const estimator::Mechanism& mechanism, int joint) {
  return std::abs(mechanism.joint_parameter(joint, JointParameter::kCoulombTorque).value) +
         std::abs(mechanism.joint_parameter(joint, JointParameter::kStribeckTorque).value);
}

}  // namespace

int find_driven_joint(const Rig& rig, const std::string& name) {
  std::vector<std::string> names;
  int found = -1;
  for (int j = 0; j < rig.mechanism.joint_count(); ++j) {
    const estimator::Joint& joint = rig.mechanism.joints[static_cast<std::size_t>(j)];
    if (joint.is_compound()) {
      throw proto::InputError(
          "{}: joint {:?} turns about all axes, which designed experiments do not support",
          rig.path, compound_name(joint));
    }
    if (!joint.motor.present) continue;
    names.push_back(joint.name);
    if (name.empty() || name == joint.name) found = j;
  }
  if (names.empty()) {
    throw proto::InputError(
        "{}: has no motor, so there is no command to design; "
        "record a release (configs/scenario-release.textproto)",
        rig.path);
  }
  if (found < 0) {
    throw proto::InputError("--motor {}: the rig has no such motor. Use one of {}", name,
                            join_items(names));
  }
  if (name.empty() && names.size() > 1) {
    throw proto::InputError(
        "the rig has {} motors, but a designed experiment drives only one. "
        "Add --motor with one of {}",
        names.size(), join_items(names));
  }
  return found;
}

daq::CommandLimits find_command_limits(const Rig& rig, int joint, double command_max) {
  daq::CommandLimits limits = motor_command_limits(rig, joint);
  if (command_max > limits.command_max) {
    throw proto::InputError(
        "--command-max {}: the rig file allows at most {} {}; lower the value or leave "
        "out the option",
        format_number(command_max), format_number(limits.command_max),
        rig.joint_properties[static_cast<std::size_t>(joint)].control_unit);
  }
  if (command_max > 0.0) limits.command_max = command_max;
  if (!std::isfinite(limits.command_max)) {
    throw proto::InputError(
        "{}: has no command limit. Write control_max in the motor or "
        "safety {{ command_max: ... }}, or give --command-max",
        rig.path);
  }
  return limits;
}

std::string describe_weak_motor(const Rig& rig, int joint, double command_max) {
  const estimator::Mechanism& mechanism = rig.mechanism;
  const estimator::Joint& own = mechanism.joints[static_cast<std::size_t>(joint)];
  const double torque =
      command_max * std::abs(mechanism.joint_parameter(joint, JointParameter::kMotorGain).value);
  const double friction = breakaway_torque(mechanism, joint);
  if (torque > friction) return "";
  const std::string unit = own.kind_traits().turns ? " N·m" : " N";
  return fmt::format(
      "By the present parameter values, the motor of joint {:?} gives at most {}{} at {} {}, and "
      "the dry friction of the joint is {}{}, so the joint does not move. ",
      own.name, format_number(torque), unit, format_number(command_max),
      rig.joint_properties[static_cast<std::size_t>(joint)].control_unit, format_number(friction),
      unit);
}

std::string list_motion_remedies(const Rig& rig) {
  return fmt::format(
      "Raise command_max or control_max ({}), or --command-max; widen the motion limits of the rig "
      "file; or lengthen --duration",
      rig.path);
}

TestPushRun make_test_push_run(const Rig& rig, int joint, double command, double motion_share,
                               double rate) {
  TestPushRun run{.command = kCommandShareMax * command};
  const std::vector<estimator::Encoder> sensors = estimator::used_encoders(rig.mechanism);
  double turn = 0.0, slide = 0.0;
  std::string range;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    const bool turns = sensors[i].kind_traits().turns;
    const double motion =
        motion_share * test_push_motion(rig.encoders[i], turns ? 1.0 : kSlideScale);
    double& least = turns ? turn : slide;
    least = least > 0.0 ? std::min(least, motion) : motion;
    const estimator::SensorLimits& limits = rig.encoders[i].limits;
    if (!measures_only(sensors[i], joint) || !(limits.highest > limits.lowest)) continue;
    const char* const place = turns ? "angle_rad" : "position_m";
    range = fmt::format("  {0}_min: {1}\n  {0}_max: {2}\n", place, format_number(limits.lowest, 9),
                        format_number(limits.highest, 9));
  }
  const double duration = kPushes * (2.0 * kRise_s + kPushRestFactor * kPushRest_s) + 1.0;
  const auto field = [](const char* name, double value, int digits) {
    if (!(value > 0.0)) return std::string();
    return fmt::format("{}: {}\n", name, format_number(value, digits));
  };
  run.scenario = fmt::format(
      "# proto-file: proto/scenario.proto\n"
      "# proto-message: rigcal.v1.Scenario\n"
      "#\n"
      "# First run of rigcal identify: cautious pushes of a motor whose gain may be far off.\n"
      "name: \"test-push\"\n"
      "duration_s: {}\n{}"
      "test_push {{\n"
      "  motor: {}\n"
      "  command: {}\n"
      "  rise_s: {}\n{}{}{}"
      "  rest_s: {}\n"
      "  count: {}\n"
      "}}\n",
      format_number(duration, 6), field("rate_hz", rate != 1000.0 ? rate : 0.0, 9),
      quote_for_text_file(rig.mechanism.joints[static_cast<std::size_t>(joint)].name),
      format_number(run.command, 8), format_number(kRise_s), field("  motion_rad", turn, 6),
      field("  motion_m", slide, 6), range, format_number(kPushRest_s), kPushes);
  const bool turns = rig.mechanism.joints[static_cast<std::size_t>(joint)].kind_traits().turns;
  run.motion_text = format_number(turns ? turn : slide) + (turns ? " rad" : " m");
  return run;
}

std::string describe_missing_motion(const Rig& rig, int joint,
                                    const estimator::Recording& recording, MovedJoints moved) {
  const std::vector<estimator::Encoder> sensors = estimator::used_encoders(rig.mechanism);
  double counts = 0.0;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    if (moved == MovedJoints::kDriven && !measures_only(sensors[i], joint)) continue;
    if (!(rig.encoders[i].count > 0.0)) return "";  // the resolution is unknown
    double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
    for (const estimator::Segment& segment : recording.segments) {
      for (const double reading : segment.angles.col(static_cast<Eigen::Index>(i))) {
        if (std::isnan(reading)) continue;
        lowest = std::min(lowest, reading);
        highest = std::max(highest, reading);
      }
    }
    counts = std::max(counts, (highest - lowest) / rig.encoders[i].count);
  }
  if (counts > kStillCounts + 0.5) return "";
  double command = 0.0;
  for (const estimator::Segment& segment : recording.segments) {
    if (segment.controls.size() > 0) {
      command = std::max(command, segment.controls.cwiseAbs().maxCoeff());
    }
  }
  const std::string unit = rig.joint_properties[static_cast<std::size_t>(joint)].control_unit;
  const auto changed = std::lround(std::max(counts, 0.0));
  const std::string observed = fmt::format(
      "{}: no encoder reading{} changed{}, {}. ",
      moved == MovedJoints::kDriven ? "the joint did not move" : "nothing moved",
      moved == MovedJoints::kDriven
          ? fmt::format(" of joint {:?}",
                        rig.mechanism.joints[static_cast<std::size_t>(joint)].name)
          : "",
      changed == 0 ? "" : fmt::format(" by more than {} count{}", changed, changed == 1 ? "" : "s"),
      command > 0.0
          ? fmt::format("although commands reached {} {}", format_number(command, 3), unit)
          : "and no command was recorded");
  const std::string weak = describe_weak_motor(rig, joint, command);
  if (!weak.empty()) return observed + weak + "Larger commands are needed";
  return observed +
         "By the present parameter values, such commands move the joint. "
         "Check the motor's supply and wiring, brakes and clamps, and these values";
}

}  // namespace service
