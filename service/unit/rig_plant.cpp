#include "service/unit/rig_plant.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "proto/text/input_error.hpp"

namespace service {
namespace {

using estimator::JointParameter;
using firmware_iface::sim::BodyMotion;
using firmware_iface::sim::MotorArray;

constexpr double kStepMax = 5e-4;  // [s], as the other simulated rigs
constexpr double kStepMin = 1e-6;  // [s]; shorter durations wait for the next step
constexpr double kProbe = 1e-6;    // step from whose start accelerations are taken [s]

// A unit advances its rig at each tick and each change of a command. This suffices for a unit with
// 10 000 ticks per second.
constexpr double kEntriesPerSecond = 4e4;

std::size_t history_capacity(const Eigen::VectorXd& delays) {
  const double longest = delays.size() > 0 ? std::max(0.0, delays.maxCoeff()) : 0.0;
  return static_cast<std::size_t>(std::ceil(kEntriesPerSecond * longest)) + 8;
}

std::vector<int> find_motor_joints(const estimator::Mechanism& mechanism) {
  std::vector<int> joints;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (mechanism.joints[static_cast<std::size_t>(j)].motor.present) joints.push_back(j);
  }
  return joints;
}

Eigen::VectorXd find_motor_delays(const Rig& rig) {
  Eigen::VectorXd delays(static_cast<Eigen::Index>(find_motor_joints(rig.mechanism).size()));
  Eigen::Index motor = 0;
  for (const int joint : find_motor_joints(rig.mechanism)) {
    delays[motor++] = rig.mechanism.joint_parameter(joint, JointParameter::kInputDelay).value;
  }
  return delays;
}

std::vector<estimator::Encoder> find_unit_encoders(const Rig& rig, const UnitWiring& wiring) {
  const std::vector<estimator::Encoder> all = estimator::used_encoders(rig.mechanism);
  std::vector<estimator::Encoder> encoders;
  for (const int k : wiring.encoders) encoders.push_back(all[static_cast<std::size_t>(k)]);
  return encoders;
}

Eigen::VectorXd find_encoder_delays(const Rig& rig, const UnitWiring& wiring) {
  Eigen::VectorXd delays(static_cast<Eigen::Index>(wiring.encoders.size()));
  Eigen::Index k = 0;
  for (const estimator::Encoder& encoder : find_unit_encoders(rig, wiring)) {
    delays[k++] = rig.mechanism.at(encoder.delay).value;
  }
  return delays;
}

}  // namespace

RigPlant::RigPlant(Rig rig, UnitWiring wiring, const Eigen::VectorXd& start,
                   std::atomic<bool>& stop)
    : rig_(std::move(rig)),
      wiring_(std::move(wiring)),
      start_(start),
      encoders_(find_unit_encoders(rig_, wiring_)),
      motor_joints_(find_motor_joints(rig_.mechanism)),
      motor_delays_(find_motor_delays(rig_)),
      encoder_delays_(find_encoder_delays(rig_, wiring_)),
      plant_(make_physical_plant(rig_, start, Eigen::VectorXd::Zero(start.size()), kStepMax)),
      dynamics_(rig_.mechanism, parameter_values(rig_.mechanism)),
      impulse_(Eigen::VectorXd::Zero(motor_delays_.size())),
      impulses_(motor_delays_.size(), history_capacity(motor_delays_)),
      angles_(encoder_delays_.size()),
      past_angles_(encoder_delays_.size(), history_capacity(encoder_delays_)),
      stop_(stop) {
  if ((motor_delays_.array() < 0.0).any() || (encoder_delays_.array() < 0.0).any()) {
    throw proto::InputError(
        "{}: a motor or encoder has a negative delay, which cannot be simulated. "
        "Use delays of 0 or more",
        rig_.path);
  }
  impulses_.append(0.0, impulse_);
  publish();
}

double RigPlant::encoder_angle(int joint) const {
  const auto k = static_cast<Eigen::Index>(joint);
  return encoder_delays_[k] > 0.0 ? past_angles_.at(time_ - encoder_delays_[k], k) : angles_[k];
}

Eigen::VectorXd RigPlant::unit_order_to_joint_order(const MotorArray& command) const {
  Eigen::VectorXd control = Eigen::VectorXd::Zero(motor_delays_.size());
  for (std::size_t m = 0; m < wiring_.motors.size(); ++m) {
    const auto place = std::ranges::find(motor_joints_, wiring_.motors[m]);
    control[place - motor_joints_.begin()] = command[m];
  }
  return control;
}

void RigPlant::advance(double dt_s, const MotorArray& command) noexcept {
  impulse_ += dt_s * unit_order_to_joint_order(command);
  pending_ += dt_s;
  if (pending_ < kStepMin) return;
  const double end = time_ + pending_;
  impulses_.append(end, impulse_);
  if (is_held_ || stop_) {
    time_ = end;
    past_angles_.append(time_, angles_);
  } else {
    const double steps = std::ceil(pending_ / kStepMax);
    for (double k = 0.0; k < steps && !stop_; ++k) integrate(pending_ / steps);
    time_ = end;
  }
  pending_ = 0.0;
}

void RigPlant::integrate(double dt) noexcept {
  try {
    Eigen::VectorXd control(motor_delays_.size());
    for (Eigen::Index m = 0; m < control.size(); ++m) {
      const double begin = time_ - motor_delays_[m];
      control[m] = (impulses_.at(begin + dt, m) - impulses_.at(begin, m)) / dt;
    }
    plant_->set_step(dt);
    plant_->advance_step(control, time_);
    time_ += dt;
    publish();
  } catch (const std::exception& fault) {
    error_ = fault.what();
    stop_ = true;
  }
}

void RigPlant::publish() {
  const Eigen::VectorXd& coordinates = plant_->joint_coordinates();
  const Eigen::VectorXd& speeds = plant_->joint_speeds();
  for (std::size_t k = 0; k < encoders_.size(); ++k) {
    const double angle = encoders_[k].sum([&](int joint) { return coordinates[joint]; });
    angles_[static_cast<Eigen::Index>(k)] = state_.angle_rad[k] = angle;
    state_.speed_rad_s[k] = encoders_[k].sum([&](int joint) { return speeds[joint]; });
  }
  past_angles_.append(time_, angles_);
}

BodyMotion RigPlant::compute_body_motion(int joint, const MotorArray& command) const {
  BodyMotion motion{.axes = {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}}};
  using Vector = estimator::TreeInverseDynamics<double>::VectorX;
  const Eigen::VectorXd control = unit_order_to_joint_order(command);
  const Eigen::VectorXd coordinates = plant_->joint_coordinates(), speeds = plant_->joint_speeds();
  Vector accelerations = Vector::Zero(coordinates.size());
  if (!is_held_ && !stop_) {
    try {
      plant_->set_step(kProbe);
      plant_->advance_step(control, time_);
      accelerations = plant_->motion_at_step_start().col(2);
      plant_->set_motion(coordinates, speeds);
    } catch (const std::exception&) {  // `advance` reports it
      stop_ = true;
    }
  }
  Vector commands = Vector::Zero(coordinates.size()), unused;
  for (std::size_t m = 0; m < motor_joints_.size(); ++m) {
    commands[motor_joints_[m]] = control[static_cast<Eigen::Index>(m)];
  }
  dynamics_.torque_residual(coordinates, speeds, accelerations, commands, unused);
  const auto readings = dynamics_.sensor_readings(wiring_.sensors[static_cast<std::size_t>(joint)]);
  std::copy_n(readings.begin(), 3, motion.angular_velocity.begin());
  std::copy_n(readings.begin() + 3, 3, motion.specific_force.begin());
  return motion;
}

void RigPlant::set_motion(const Eigen::VectorXd& coordinates) {
  plant_->set_motion(coordinates, Eigen::VectorXd::Zero(coordinates.size()));
  publish();
}

void RigPlant::set_held_by_hand(bool held) {
  is_held_ = held;
  if (held) set_motion(Eigen::VectorXd(plant_->joint_coordinates()));
}

void RigPlant::set_joint_angle(int joint, double angle_rad) {
  const auto k = static_cast<std::size_t>(joint);
  Eigen::VectorXd coordinates = plant_->joint_coordinates();
  const estimator::Encoder::JointTerm& first = encoders_[k].terms.front();
  coordinates[first.joint] += first.sign * (angle_rad - state_.angle_rad[k]);
  set_motion(coordinates);
}

void RigPlant::restore_initial_state() { set_motion(start_); }

}  // namespace service
