#include "service/design/design_setup.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "estimator/design/plan_evaluator.hpp"
#include "proto/text/input_error.hpp"
#include "service/simulation/scenario_file.hpp"
#include "service/text/comma_list.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr double kPeriodMax = 0.004;  // sampling period of candidate commands [s]
constexpr double kCoast_s = 10.0;     // time after a run during which the limits must hold, too

/// Usable share of the largest command. It is below 1 because a sum of sines sampled within the
/// limits can slightly exceed them between its samples.
constexpr double kPeakShare = 0.99;

/// Returns the index of the joint that the requested motor drives.
/// @param name  name of the joint; empty: the only motor
int find_motor(const Rig& rig, const std::string& name) {
  std::vector<std::string> names;
  int found = -1;
  for (int j = 0; j < rig.mechanism.joint_count(); ++j) {
    const estimator::Joint& joint = rig.mechanism.joints[static_cast<std::size_t>(j)];
    if (!joint.motorised) continue;
    names.push_back(joint.name);
    if (name.empty() || name == joint.name) found = j;
  }
  if (names.empty()) {
    throw proto::InputError(rig.path +
                            ": has no motor, so there is no command to design; record a release "
                            "(configs/scenario-release.textproto)");
  }
  if (found < 0) {
    throw proto::InputError("--motor " + name + ": the rig has no such motor. Use one of " +
                            comma_list(names));
  }
  if (name.empty() && names.size() > 1) {
    throw proto::InputError("the rig has " + std::to_string(names.size()) +
                            " motors, and a designed run drives one. Give --motor with one of " +
                            comma_list(names));
  }
  return found;
}

/// Returns the requested initial joint coordinates; NaN for joints without a request.
Eigen::VectorXd read_places(const std::vector<std::string>& texts,
                            const estimator::Mechanism& mechanism) {
  Eigen::VectorXd placed =
      Eigen::VectorXd::Constant(mechanism.joint_count(), std::numeric_limits<double>::quiet_NaN());
  for (const std::string& text : texts) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string name = text.substr(0, equals);
    const auto joint = std::ranges::find(mechanism.joints, name, &estimator::Joint::name);
    if (joint == mechanism.joints.end()) {
      throw proto::InputError("--at " + text + ": the rig has no joint \"" + name +
                              "\"; write JOINT=VALUE");
    }
    double value = 0.0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + std::min(equals + 1, text.size()), end, value);
    if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value)) {
      throw proto::InputError("--at " + text + ": not a number. Write " + name + "=VALUE in " +
                              joint->units().coordinate);
    }
    placed[joint - mechanism.joints.begin()] = value;
  }
  return placed;
}

daq::CommandLimits command_limits(const Rig& rig, const ExperimentRequest& request, int motor) {
  daq::CommandLimits limits = motor_command_limits(rig, motor);
  if (request.command_max > limits.command_max) {
    throw proto::InputError("--command-max " + format_number(request.command_max) +
                            ": the rig file allows " + format_number(limits.command_max) + " " +
                            rig.joint_facts[static_cast<std::size_t>(motor)].control_unit +
                            "; lower it or leave it out");
  }
  if (request.command_max > 0.0) limits.command_max = request.command_max;
  if (!std::isfinite(limits.command_max)) {
    throw proto::InputError(rig.path +
                            ": has no command limit. Write control_max in the motor or safety { "
                            "command_max: ... }, or give --command-max");
  }
  return limits;
}

estimator::PlanSettings facts_of(const PriorState& today, const ExperimentRequest& request,
                                 int motor) {
  const estimator::Mechanism& mechanism = today.rig.mechanism;
  const auto before = mechanism.joints.begin() + motor;
  const double samples = std::max(1.0, std::floor(kPeriodMax * request.rate));
  return {.period = samples / request.rate,
          .rate = request.rate,
          .motor = static_cast<int>(std::count_if(mechanism.joints.begin(), before,
                                                  [](const auto& each) { return each.motorised; })),
          .start = estimator::resting_start(mechanism, read_places(request.at, mechanism)),
          .noise = today.noise,
          .coast = kCoast_s,
          .quantum = today.quantum};
}

/// Returns the limits of the motion. Position limits are moved toward the initial readings, and
/// speed limits are reduced, by the factor `limit_share`.
std::vector<estimator::SensorLimits> motion_limits(const Rig& rig, const Eigen::VectorXd& start,
                                                   double limit_share) {
  const std::vector<estimator::Encoder> sensors = estimator::used_encoders(rig.mechanism);
  std::vector<estimator::SensorLimits> all;
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    estimator::SensorLimits limits = rig.encoders[i].limits;
    if (limits.highest > limits.lowest) {
      const double reading = sensors[i].sum([&](int joint) { return start[joint]; });
      if (!(reading > limits.lowest && reading < limits.highest)) {
        throw proto::InputError(
            "encoder " + sensors[i].name + " reads " + format_number(reading) + " " +
            sensors[i].units().coordinate + " before the run, outside its limits (" + rig.path +
            ", safety). Move the joint within its limits and give its position with --at");
      }
      limits.lowest = reading + limit_share * (limits.lowest - reading);
      limits.highest = reading + limit_share * (limits.highest - reading);
    }
    limits.fastest *= limit_share;
    all.push_back(limits);
  }
  return all;
}

}  // namespace

DesignSetup make_design_setup(const PriorState& today, const ExperimentRequest& request) {
  const Rig& rig = today.rig;
  DesignSetup posed{.task = {.mechanism = rig.mechanism, .knowledge = today.knowledge},
                    .motor = find_motor(rig, request.motor),
                    .notes = {}};
  const daq::CommandLimits command = command_limits(rig, request, posed.motor);
  posed.task.facts = facts_of(today, request, posed.motor);
  posed.task.limits = {.command_max = kPeakShare * command.command_max,
                       .command_slew_per_s_max = command.command_slew_per_s_max,
                       .sensors = motion_limits(rig, posed.task.facts.start, request.limit_share)};
  const bool any = std::ranges::any_of(posed.task.limits.sensors, [](const auto& limits) {
    return limits.highest > limits.lowest || limits.fastest > 0.0;
  });
  if (!any) {
    posed.notes.push_back(
        rig.path + ": has no motion limits (safety { joint { } }); only the command is limited");
  }
  return posed;
}

}  // namespace service
