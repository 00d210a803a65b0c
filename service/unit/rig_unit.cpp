#include "service/unit/rig_unit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "daq/config/rig_config.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "proto/text/input_error.hpp"
#include "service/options/parameter_values.hpp"
#include "service/rig/drawing/rig_picture.hpp"
#include "service/simulation/scenario.hpp"

namespace service {
namespace {

namespace sim = firmware_iface::sim;

constexpr double kCommandMaxDefault = 10.0;  // [unit of the motor]
constexpr int kTtlMax_ms = 255;              // of the protocol

int index_of_joint(const estimator::Mechanism& mechanism, const std::string& name) {
  const auto found = std::ranges::find(mechanism.joints, name, &estimator::Joint::name);
  return found == mechanism.joints.end() ? -1 : static_cast<int>(found - mechanism.joints.begin());
}

/// Returns the indices of the rig's encoders, motors and sensors in the order of the unit.
UnitWiring read_wiring(const daq::RigConfig& config, const Rig& rig) {
  UnitWiring wiring;
  const std::vector<estimator::Encoder> encoders = estimator::used_encoders(rig.mechanism);
  for (const daq::ChannelConfig& channel : config.channel) {
    const auto found = std::ranges::find(encoders, channel.joint, &estimator::Encoder::name);
    wiring.encoders.push_back(static_cast<int>(found - encoders.begin()));
  }
  for (const daq::MotorConfig& motor : config.motor) {
    wiring.motors.push_back(index_of_joint(rig.mechanism, motor.joint));
  }
  for (const daq::InertialSensorConfig& sensor : config.inertial) {
    const auto found =
        std::ranges::find(rig.mechanism.sensors, sensor.name, &estimator::Sensor::name);
    wiring.sensors.push_back(static_cast<int>(found - rig.mechanism.sensors.begin()));
  }
  return wiring;
}

void refuse_prescribed_joints(const Rig& rig, const UnitWiring& wiring) {
  for (int j = 0; j < rig.mechanism.joint_count(); ++j) {
    const estimator::Joint& joint = rig.mechanism.joints[static_cast<std::size_t>(j)];
    if (!joint.motor.present || std::ranges::count(wiring.motors, j) > 0) continue;
    throw proto::InputError(
        "{}: joint {:?} has a prescribed motion, "
        "which the command of a motor does not determine. "
        "Describe its motor instead of motion: PRESCRIBED",
        rig.path, joint.name);
  }
}

/// Returns the modulus of the counter in the rig file's recordings; 0 if it has none.
std::uint32_t counter_modulus(const Rig& rig, const std::string& joint) {
  if (!rig.format) return 0;
  const auto found = std::ranges::find(rig.format->angles, joint, &EncoderColumn::joint);
  if (found == rig.format->angles.end()) return 0;
  const bool fits = found->counts_modulo <= std::numeric_limits<std::uint32_t>::max();
  return fits ? static_cast<std::uint32_t>(found->counts_modulo) : 0;
}

sim::EncoderSettings make_encoder(const daq::ChannelConfig& channel, const Rig& rig, int encoder) {
  const estimator::Encoder source =
      estimator::used_encoders(rig.mechanism)[static_cast<std::size_t>(encoder)];
  sim::EncoderSettings settings;
  const double counts = channel.counts_per_turn;
  if (channel.slides) {
    settings.counts_per_rad = counts;
  } else if (counts == std::round(counts) && counts <= std::numeric_limits<std::int32_t>::max()) {
    settings.counts_per_turn = static_cast<std::uint32_t>(counts);
  } else {
    settings.counts_per_rad = counts / (2.0 * M_PI);
  }
  settings.zero_offset_rad = rig.mechanism.at(source.offset).value + channel.offset_rad;
  settings.count_factor = channel.inverted ? -1.0 : 1.0;
  settings.modulus = counter_modulus(rig, channel.joint);
  return settings;
}

sim::MotorSettings make_motor(const daq::RigConfig& config, std::size_t m) {
  static const std::map<std::string, int> kKinds = {
      {"V", MOTOR_VOLT}, {"1", MOTOR_VOLT}, {"A", MOTOR_AMPERE}, {"duty", MOTOR_DUTY}};
  const daq::MotorConfig& motor = config.motor[m];
  const auto kind = kKinds.find(motor.command_unit);
  if (kind == kKinds.end()) {
    throw proto::InputError(
        "{}: the motor of joint {:?} has the control_unit {:?}, but a conversion unit commands V, "
        "A or duty. Write \"1\" for any other unit",
        config.path, motor.joint, motor.command_unit);
  }
  double range = motor.command_max;
  if (range == 0.0 && m < config.limits.motor.size()) range = config.limits.motor[m].command_max;
  return {kind->second, range > 0.0 ? range : kCommandMaxDefault};
}

sim::InertialSensorSettings make_sensor(const daq::InertialSensorConfig& sensor, int index) {
  sim::InertialSensorSettings settings;
  settings.joint = index;  // see RigPlant::compute_body_motion
  const auto set = [&](std::size_t axis, double& counts, double& range) {
    if (!(sensor.scale.si_per_count[axis] > 0.0)) return;
    counts = 1.0 / sensor.scale.si_per_count[axis];
    if (sensor.scale.counts_max[axis] < INERTIAL_COUNTS_MAX) {
      range = sensor.scale.counts_max[axis] / counts;
    }
  };
  set(0, settings.gyro_counts, settings.gyro_range);
  set(3, settings.accel_counts, settings.accel_range);
  return settings;
}

void describe_unit(const daq::RigConfig& config, const Rig& rig, const UnitWiring& wiring,
                   sim::UnitSettings& unit) {
  for (std::size_t k = 0; k < config.channel.size(); ++k) {
    unit.encoder[k] = make_encoder(config.channel[k], rig, wiring.encoders[k]);
  }
  unit.motor_count = static_cast<int>(config.motor.size());
  for (std::size_t m = 0; m < config.motor.size(); ++m) unit.motor[m] = make_motor(config, m);
  unit.inertial_count = static_cast<int>(config.inertial.size());
  for (std::size_t k = 0; k < config.inertial.size(); ++k) {
    unit.inertial[k] = make_sensor(config.inertial[k], static_cast<int>(k));
  }
  unit.ttl_max_ms = std::min(kTtlMax_ms, std::max(unit.ttl_max_ms, config.ttl_ms));
}

/// Returns the initial coordinates of all joints [rad or m]. The kinematic loops are closed.
Eigen::VectorXd read_start(const Rig& rig, const std::vector<std::string>& positions) {
  const estimator::Mechanism& mechanism = rig.mechanism;
  Eigen::VectorXd stated =
      Eigen::VectorXd::Constant(mechanism.joint_count(), std::numeric_limits<double>::quiet_NaN());
  for (const std::string& text : positions) {
    const RequestedCoordinate place = parse_joint_coordinate(text);
    const int joint = index_of_joint(mechanism, place.name);
    if (joint < 0) {
      throw proto::InputError("--at {}: {} has no joint {:?}; use a joint of this file", text,
                              rig.path, place.name);
    }
    if (place.degrees && !mechanism.joints[static_cast<std::size_t>(joint)].kind_traits().turns) {
      throw proto::InputError("--at {}: joint {:?} slides; give its position in m", text,
                              place.name);
    }
    stated[joint] = place.value;
  }
  const auto start = assemble_initial_configuration(mechanism, stated);
  if (!start) {
    throw proto::InputError(
        "{}: the loops cannot be closed at the start. "
        "Give --at for fewer joints, or with other values",
        rig.path);
  }
  for (const estimator::JointStop& stop : estimator::joint_end_stops(mechanism)) {
    if (stop.distance_from_stop((*start)[stop.joint]) >= 0.0) continue;
    const std::string& joint = mechanism.joints[static_cast<std::size_t>(stop.joint)].name;
    throw proto::InputError(
        "{0}: joint {1:?} starts beyond its end stop. Give --at {1}=VALUE within the stops",
        rig.path, joint);
  }
  return *start;
}

}  // namespace

RigUnit load_rig_unit(const RigUnitRequest& request, std::atomic<bool>& stop) {
  const daq::RigConfig config = daq::load_rig_config(request.rig, daq::RigFilePurpose::kSimulate);
  Rig rig = parse_rig(request.rig, config.text);
  apply_parameter_values(read_parameter_values(request.values), rig.mechanism);
  if (rig.mechanism.joint_count() > estimator::kTreeJointsMax) {
    throw proto::InputError(
        "{}: has more than {} joints, which cannot be simulated. Describe fewer joints",
        request.rig, estimator::kTreeJointsMax);
  }
  if (request.moved_by_hand && !estimator::is_tree_mechanism(rig.mechanism)) {
    throw proto::InputError(
        "{}: the joints of a rig with closed loops or mimic joints cannot be turned by hand one by "
        "one; leave out --hand",
        request.rig);
  }
  const UnitWiring wiring = read_wiring(config, rig);
  refuse_prescribed_joints(rig, wiring);
  RigUnit unit;
  unit.settings = sim::load_unit_config(request.config, static_cast<int>(config.channel.size()),
                                        request.overrides)
                      .settings;
  describe_unit(config, rig, wiring, unit.settings.unit);
  if (!request.values.empty()) {
    unit.parameter_text = "# parameter values: " + request.values + "\n";
  }
  unit.parameter_text += config.text;
  const Eigen::VectorXd start = read_start(rig, request.positions);
  unit.plant = std::make_unique<RigPlant>(std::move(rig), wiring, start, stop);
  return unit;
}

}  // namespace service
