#include "service/simulation/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <random>
#include <utility>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/model/joint_stop.hpp"
#include "estimator/signal/step_grid.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/rig/rig_contacts.hpp"
#include "service/simulation/measured_joints.hpp"
#include "service/simulation/plant.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

/// Simulator of the readings of all sensors other than encoders: inertial, torque, force and
/// position sensors.
class SensorReadings {
 public:
  /// @param step  simulation step [s]
  SensorReadings(const Rig& rig, const Scenario& scenario, double step)
      : mechanism_(rig.mechanism),
        scenario_(scenario),
        dynamics_(rig.mechanism, parameter_values(rig.mechanism)),
        random_(scenario.seed + 1) {  // independent of the encoders' generator
    for (int i = 0; i < mechanism_.sensor_count(); ++i) {
      const int delay = mechanism_.sensor_parameter_index(i, estimator::SensorParameter::kDelay);
      late_.push_back(std::lround(mechanism_.at(delay).value / step));
    }
    if (late_.empty()) return;
    past_.setConstant(1 + *std::ranges::max_element(late_), kAxes * mechanism_.sensor_count(),
                      std::numeric_limits<double>::quiet_NaN());
  }

  int sensor_count() const { return mechanism_.sensor_count(); }

  /// Computes and stores the true readings at the beginning of a simulation step.
  /// @param motion   joint motion from Plant::motion
  /// @param control  controls of the motors during the step
  void take(const Eigen::MatrixXd& motion, const Eigen::VectorXd& control) {
    using Vector = estimator::TreeInverseDynamics<double>::VectorX;
    Vector commands = Vector::Zero(mechanism_.joint_count()), unused;
    Eigen::Index motor = 0;
    for (int j = 0; j < mechanism_.joint_count(); ++j) {
      if (mechanism_.joints[static_cast<std::size_t>(j)].motor.present)
        commands[j] = control[motor++];
    }
    dynamics_.torque_residual(motion.col(0), motion.col(1), motion.col(2), commands, unused);
    const Eigen::Index row = taken_++ % past_.rows();
    for (int i = 0; i < mechanism_.sensor_count(); ++i) {
      const auto readings = dynamics_.sensor_readings(i);
      const int axes = mechanism_.sensors[static_cast<std::size_t>(i)].axis_count();
      for (int k = 0; k < axes; ++k)
        past_(row, i * kAxes + k) = readings[static_cast<std::size_t>(k)];
    }
  }

  /// Returns the sensor readings at the beginning of the last step, in the layout of
  /// Segment::inertial. A delayed reading from before the start of the simulation is NaN.
  Eigen::RowVectorXd read() {
    Eigen::RowVectorXd readings =
        Eigen::RowVectorXd::Constant(past_.cols(), std::numeric_limits<double>::quiet_NaN());
    for (int i = 0; i < mechanism_.sensor_count(); ++i) {
      const auto sensor = static_cast<std::size_t>(i);
      const Eigen::Index of = taken_ - 1 - late_[sensor];
      if (of < 0) continue;
      for (int k = 0; k < kAxes; ++k) {
        const double noise = noise_of(mechanism_.sensors[sensor], k);
        readings[i * kAxes + k] = past_(of % past_.rows(), i * kAxes + k);
        if (noise > 0.0) readings[i * kAxes + k] += noise * normal_(random_);
      }
    }
    return readings;
  }

 private:
  static constexpr int kAxes = estimator::Sensor::kAxes;

  double noise_of(const estimator::Sensor& sensor, int axis) const {
    return scenario_.sensor_noise[static_cast<std::size_t>(
        sensor.kind_traits().instrument_of_axis(axis).reads)];
  }

  const estimator::Mechanism& mechanism_;
  const Scenario& scenario_;
  estimator::TreeInverseDynamics<double> dynamics_;
  std::vector<Eigen::Index> late_;  // delay of each sensor [steps]
  Eigen::MatrixXd past_;            // ring buffer, steps × axes
  Eigen::Index taken_ = 0;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

using estimator::JointParameter;

constexpr double kSamplesMax = 2e7;  // over five hours at 1 kHz, a CSV file of about 1 GB
constexpr double kStepsPerSampleMax = 1e6;

/// Commands of one motor over time, with their mean over any time interval.
class CommandHistory {
 public:
  /// @param period  sampling period of the commands [s]
  /// @param delay   input delay of the motor [s]
  CommandHistory(double period, double delay, const daq::CommandLimits& limits)
      : period_(period), delay_(delay), limits_(limits) {}

  /// Appends the command of the next sample. It is limited as daq::SafetyMonitor does on the rig.
  void append(double command) {
    const double slew = limits_.command_slew_per_s_max * period_;
    commands_.push_back(std::clamp(std::clamp(command, -limits_.command_max, limits_.command_max),
                                   last() - slew, last() + slew));
  }
  double last() const { return commands_.empty() ? 0.0 : commands_.back(); }

  /// Returns the mean of the delayed command from `time` to `time + duration`. The command is zero
  /// before the start and constant after the last sample.
  double acting(double time, double duration) const {
    return mean(time - delay_, time - delay_ + duration);
  }

 private:
  double mean(double from, double to) const {
    double integral = 0.0;
    auto k = static_cast<std::ptrdiff_t>(std::floor(std::max(from, 0.0) / period_ + 1e-9));
    for (double begin = std::max(from, 0.0); begin < to; ++k) {
      const double end = std::min(to, static_cast<double>(k + 1) * period_);
      const std::size_t index = std::min(static_cast<std::size_t>(k), commands_.size() - 1);
      integral += commands_[index] * std::max(0.0, end - begin);
      begin = std::max(end, begin);
      if (end >= to) break;
    }
    return integral / (to - from);
  }

  double period_, delay_;
  daq::CommandLimits limits_;
  std::vector<double> commands_;
};

/// Simulator of encoders, which converts true joint coordinates to readings.
class Encoders {
 public:
  Encoders(const Rig& rig, const Scenario& scenario, double step)
      : rig_(rig),
        scenario_(scenario),
        step_(step),
        sensors_(estimator::used_encoders(rig.mechanism)),
        values_(estimator::parameter_values(rig.mechanism)),
        random_(scenario.seed) {
    for (const estimator::Encoder& sensor : sensors_) {
      late_.push_back(rig.mechanism.at(sensor.delay).value / step);
      if (late_.back() >= 0.0) continue;
      throw proto::InputError(
          "{}: encoder {:?} has a negative delay, which cannot be simulated. "
          "Use a delay of 0 or more",
          rig.path, sensor.name);
    }
    if (!scenario.quantize) return;
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      if (rig.encoders[i].count > 0.0) continue;
      throw proto::InputError("quantize needs {} in the encoder of joint {:?} ({})",
                              sensors_[i].kind_traits().counts.name, sensors_[i].name, rig.path);
    }
  }

  Eigen::Index count() const { return static_cast<Eigen::Index>(sensors_.size()); }

  /// Stores the joint states after a simulation step, for encoders with delay.
  void take(const Eigen::VectorXd& angles, const Eigen::VectorXd& speeds) {
    if (sensors_.empty()) return;
    past_.push_back({angles, speeds});
    if (static_cast<double>(past_.size()) > 2.0 + *std::ranges::max_element(late_)) {
      past_.pop_front();
    }
  }

  /// Returns the encoder readings after the last step. The rig is assumed at rest before the start.
  Eigen::VectorXd read() {
    Eigen::VectorXd readings(count());
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      const estimator::Encoder& sensor = sensors_[i];
      double& reading = readings[static_cast<Eigen::Index>(i)];
      reading = sensor.sum([&](int joint) { return place(joint, late_[i]); }) -
                rig_.mechanism.parameters[static_cast<std::size_t>(sensor.offset)].value;
      reading = add_encoder_harmonics(sensor, values_, reading);
      const double noise = sensor.kind_traits().turns ? sensor.units().scale * scenario_.noise
                                                      : scenario_.position_noise;
      if (noise > 0.0) reading += noise * normal_(random_);
      const double count = rig_.encoders[i].count;
      if (scenario_.quantize) reading = std::round(reading / count) * count;
    }
    return readings;
  }

 private:
  struct Past {
    Eigen::VectorXd angles, speeds;
  };

  /// Returns a joint's coordinate `ago` steps before now, interpolated by cubic polynomials.
  double place(int joint, double ago) const {
    if (ago == 0.0) return past_.back().angles[joint];
    const double at = static_cast<double>(past_.size()) - 1.0 - ago;
    if (at < 0.0) return past_.front().angles[joint];
    const auto before = std::min(static_cast<std::size_t>(at), past_.size() - 2);
    const double x = at - static_cast<double>(before);
    const Past &a = past_[before], &b = past_[before + 1];
    return (1.0 - x) * (1.0 - x) *
               ((1.0 + 2.0 * x) * a.angles[joint] + x * step_ * a.speeds[joint]) +
           x * x * ((3.0 - 2.0 * x) * b.angles[joint] - (1.0 - x) * step_ * b.speeds[joint]);
  }

  const Rig& rig_;
  const Scenario& scenario_;
  double step_;
  std::vector<estimator::Encoder> sensors_;
  std::vector<double> values_;  // of all parameters
  std::vector<double> late_;  // delays [steps]
  std::deque<Past> past_;     // the last entry is the present
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

/// Returns a warning for each position limit of a scenario that a joint between two end stops
/// cannot exceed.
std::vector<std::string> describe_unreachable_limits(const Rig& rig, const Scenario& scenario) {
  std::vector<std::string> notes;
  for (const JointLimit& limit : scenario.limits) {
    std::vector<double> passed;  // positions of the stops before the limit
    for (const estimator::JointStop& stop : estimator::joint_end_stops(rig.mechanism)) {
      const bool is_before = limit.angle_max > -stop.side * stop.position;
      if (stop.joint == limit.joint && is_before) passed.push_back(stop.position);
    }
    if (passed.size() < 2) continue;
    const estimator::Joint& joint = rig.mechanism.joints[static_cast<std::size_t>(limit.joint)];
    const auto text = [](double position) { return format_number(position, 6); };
    proto::add_note(notes,
                    "the scenario limit of joint {:?}, ±{} {}, is beyond its end stops at {} {}; "
                    "set the limit inside the stops",
                    joint.name, text(limit.angle_max), joint.units().coordinate,
                    join_items(passed, text, " and "), joint.units().coordinate);
  }
  return notes;
}

/// Monitor of the joint limits of rig file and scenario. For each limit it finds when the motion
/// first exceeds it, and by how much at most.
class Watch {
 public:
  Watch(const Rig& rig, const Scenario& scenario) {
    const double inf = std::numeric_limits<double>::infinity();
    std::vector<JointLimit> limits = scenario.limits;
    const std::vector<estimator::Encoder> encoders = estimator::used_encoders(rig.mechanism);
    for (std::size_t i = 0; i < encoders.size(); ++i) {
      estimator::SensorLimits own = rig.encoders[i].limits;
      if (!(own.lowest < own.highest)) own = {-inf, inf, own.fastest};
      std::erase_if(limits, [&](const JointLimit& limit) {
        if (joint_of(rig, limit).name != encoders[i].name) return false;
        own = stricter(own, limit);
        return true;
      });
      add_bounds(encoders[i].name, encoders[i].units(), encoders[i].terms,
                 rig.mechanism.at(encoders[i].offset).value, own);
    }
    for (const JointLimit& limit : limits) {
      const estimator::Joint& joint = joint_of(rig, limit);
      add_bounds(joint.name, joint.units(), {{limit.joint, 1.0}}, 0.0,
                 stricter({-inf, inf, 0.0}, limit));
    }
  }

  void check(double time, const Eigen::VectorXd& angles, const Eigen::VectorXd& speeds) {
    for (Bound& bound : bounds_) {
      double value = -bound.offset;
      for (const auto& [joint, sign] : bound.terms) {
        value += sign * (bound.is_of_speed ? speeds : angles)[joint];
      }
      const double excess = (bound.is_of_speed ? std::abs(value) : bound.sign * value) - bound.most;
      if (!(excess > bound.excess)) continue;
      if (bound.excess == 0.0) bound.since = time;
      bound.excess = excess;
    }
  }

  /// Returns a sentence for each exceeded limit, in the order in which they are first exceeded.
  std::vector<std::string> describe() {
    std::ranges::stable_sort(bounds_, {}, &Bound::since);
    std::vector<std::string> notes;
    for (const Bound& bound : bounds_) {
      if (bound.excess == 0.0) continue;
      proto::add_note(notes, "{} {} at {} s, by up to {} {}; a run on the rig would stop there",
                      bound.words, bound.unit, format_number(bound.since, 6),
                      format_number(bound.excess, 3), bound.unit);
    }
    return notes;
  }

 private:
  /// A one-sided limit of a coordinate, or a limit of the magnitude of a speed.
  struct Bound {
    std::string words;  // e.g. "joint arm exceeds its angle limit of 0.5"
    std::string unit;
    std::vector<estimator::Encoder::JointTerm> terms;
    double offset = 0.0;  // of the encoder [rad or m]
    bool is_of_speed = false;
    double sign = 1.0, most = 0.0;  // sign · value exceeds the limit if it is above `most`
    double since = std::numeric_limits<double>::infinity();  // first time beyond the limit [s]
    double excess = 0.0;                                     // largest amount beyond the limit
  };

  static const estimator::Joint& joint_of(const Rig& rig, const JointLimit& limit) {
    return rig.mechanism.joints[static_cast<std::size_t>(limit.joint)];
  }

  static estimator::SensorLimits stricter(estimator::SensorLimits own, const JointLimit& limit) {
    if (limit.angle_max > 0.0) {
      own.lowest = std::max(own.lowest, -limit.angle_max);
      own.highest = std::min(own.highest, limit.angle_max);
    }
    if (limit.speed_max > 0.0) {
      own.fastest = own.fastest > 0.0 ? std::min(own.fastest, limit.speed_max) : limit.speed_max;
    }
    return own;
  }

  void add_bounds(const std::string& name, const estimator::JointUnits& units,
                  const std::vector<estimator::Encoder::JointTerm>& terms, double offset,
                  const estimator::SensorLimits& limits) {
    const auto words = [&](const char* verb, const std::string& quantity, double limit) {
      return "joint " + name + verb + quantity + " limit of " + format_number(limit);
    };
    if (std::isfinite(limits.highest)) {
      bounds_.push_back({.words = words(" exceeds its ", units.quantity, limits.highest),
                         .unit = units.coordinate,
                         .terms = terms,
                         .offset = offset,
                         .most = limits.highest});
    }
    if (std::isfinite(limits.lowest)) {
      bounds_.push_back({.words = words(" falls below its ", units.quantity, limits.lowest),
                         .unit = units.coordinate,
                         .terms = terms,
                         .offset = offset,
                         .sign = -1.0,
                         .most = -limits.lowest});
    }
    if (limits.fastest > 0.0) {
      bounds_.push_back({.words = words(" exceeds its ", "speed", limits.fastest),
                         .unit = units.rate,
                         .terms = terms,
                         .is_of_speed = true,
                         .most = limits.fastest});
    }
  }

  std::vector<Bound> bounds_;
};

/// Returns the number of simulation steps per sampling period.
/// @throws InputError if the period is not a whole multiple of the step
int count_steps(double period, double step) {
  const double ratio = period / step;
  if (!(step > 0.0) || !(ratio <= kStepsPerSampleMax)) {
    throw proto::InputError("--step {} s: the step is too short; give at least {} s",
                            format_number(step), format_number(period / kStepsPerSampleMax));
  }
  const auto steps = estimator::round_to_integer_ratio(ratio);
  if (!steps) {
    throw proto::InputError("--step {} s does not divide the sampling period {} s; use {} s",
                            format_number(step), format_number(period),
                            format_number(period / std::max(1.0, std::ceil(ratio))));
  }
  return *steps;
}

/// Returns the number of samples of a simulation. @throws InputError if it exceeds kSamplesMax
Eigen::Index count_samples(double duration, double period) {
  const double count = std::floor(duration / period + 1e-9) + 1.0;
  if (count >= 1.0 && count <= kSamplesMax) return static_cast<Eigen::Index>(count);
  throw proto::InputError(
      "duration_s: {} s sampled every {} ms gives {} samples, more than the limit of {}. "
      "Shorten the scenario or lower rate_hz",
      format_number(duration), format_number(1e3 * period), format_number(count),
      format_number(kSamplesMax));
}

/// Checks whether a scenario finished early because the rig came to rest after a release.
bool has_ended_early(const daq::Scenario& excitation, double time) {
  return excitation.phase() == daq::ScenarioPhase::kFinished && time < excitation.duration_s();
}

/// Returns an empty command history for each motor, in joint order.
std::vector<CommandHistory> make_histories(const estimator::Mechanism& mechanism,
                                           const Scenario& scenario, double period) {
  std::vector<CommandHistory> motors;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (!mechanism.joints[static_cast<std::size_t>(j)].motor.present) continue;
    const std::size_t m = motors.size();
    motors.emplace_back(
        period, mechanism.joint_parameter(j, JointParameter::kInputDelay).value,
        m < scenario.command_limits.size() ? scenario.command_limits[m] : daq::CommandLimits());
  }
  return motors;
}

}  // namespace

SimulatedRun simulate(const Rig& rig, const Scenario& scenario, double step,
                      const std::atomic<bool>* stop, Integrator integrator) {
  const estimator::Mechanism& mechanism = rig.mechanism;
  SimulatedRun run;
  run.notes = find_inertia_notes(rig);
  if (!scenario.start_note.empty()) run.notes.push_back(scenario.start_note);
  run.integrator = choose_integrator(mechanism, integrator);
  run.step = step;
  double rate = scenario.rate;  // time stamps k / rate equal those of a run on a rig
  run.period = 1.0 / rate;
  if (step > run.period * (1.0 + 1e-9)) {
    run.period = step;
    rate = 1.0 / step;
    proto::add_note(run.notes, "samples are taken once per step, every {} ms, instead of at {} Hz",
                    format_number(1e3 * step), format_number(scenario.rate));
  }
  const int steps = count_steps(run.period, step);
  auto samples = count_samples(scenario.excitation.duration_s(), run.period);
  std::vector<CommandHistory> motors = make_histories(mechanism, scenario, run.period);
  const auto motor_count = static_cast<Eigen::Index>(motors.size());
  Encoders encoders(rig, scenario, step);
  run.angles.resize(samples, encoders.count());
  run.controls.setZero(samples, motor_count);
  SensorReadings sensors(rig, scenario, step);
  run.inertial.resize(sensors.sensor_count() > 0 ? samples : 0,
                      estimator::Sensor::kAxes * sensors.sensor_count());
  run.joint_motion.resize(scenario.keeps_joint_motion ? samples : 0, 2 * mechanism.joint_count());

  Watch watch(rig, scenario);
  const std::unique_ptr<Plant> plant = make_plant(rig, scenario, step, run.integrator);
  daq::Scenario excitation = scenario.excitation;  // a copy, since it has a state
  MeasuredJoints measured(rig);
  Eigen::VectorXd control = Eigen::VectorXd::Zero(motor_count);
  for (Eigen::Index k = 0; k < samples; ++k) {
    const double time = static_cast<double>(k) / rate;
    run.cancelled = stop != nullptr && stop->load();
    if (k == 0) encoders.take(plant->joint_coordinates(), plant->joint_speeds());
    run.angles.row(k) = encoders.read();
    if (scenario.keeps_joint_motion) {
      run.joint_motion.row(k) << plant->joint_coordinates().transpose(),
          plant->joint_speeds().transpose();
    }
    watch.check(time, plant->joint_coordinates(), plant->joint_speeds());
    excitation.compute_command({time, measured.add(time, run.angles.row(k), *plant)},
                               {control.data(), motors.size()});
    const bool rest = has_ended_early(excitation, time);
    if (rest) run.notes.push_back("at rest at " + format_number(time, 6) + " s");
    for (Eigen::Index m = 0; m < motor_count; ++m) {
      CommandHistory& motor = motors[static_cast<std::size_t>(m)];
      motor.append(control[m]);
      run.controls(k, m) = motor.last();
    }
    if (rest || run.cancelled) samples = k + 1;
    // One extra step after the last sample gives the accelerations at it for sensor readings.
    const int after = k + 1 < samples ? steps : std::min(1, sensors.sensor_count());
    for (int i = 0; i < after; ++i) {
      const double begin = time + i * step;
      for (Eigen::Index m = 0; m < motor_count; ++m)
        control[m] = motors[static_cast<std::size_t>(m)].acting(begin, step);
      plant->advance_step(control, begin);
      encoders.take(plant->joint_coordinates(), plant->joint_speeds());
      if (sensors.sensor_count() == 0) continue;
      sensors.take(plant->motion_at_step_start(), control);
      if (i == 0) run.inertial.row(k) = sensors.read();
    }
  }
  for (std::string& note : describe_unreachable_limits(rig, scenario)) run.notes.push_back(note);
  for (std::string& note : watch.describe()) run.notes.push_back(std::move(note));
  run.angles.conservativeResize(samples, Eigen::NoChange);
  run.controls.conservativeResize(samples, Eigen::NoChange);
  if (sensors.sensor_count() > 0) run.inertial.conservativeResize(samples, Eigen::NoChange);
  if (scenario.keeps_joint_motion) run.joint_motion.conservativeResize(samples, Eigen::NoChange);
  return run;
}

std::string simulation_csv(const Rig& rig, const SimulatedRun& run) {
  estimator::Segment segment{.period = run.period, .angles = run.angles};
  segment.controls = run.controls;
  segment.inertial = run.inertial;
  set_contacts(rig.contacts, segment);
  return format_recording_csv(rig, {.name = {}, .segments = {segment}});
}

}  // namespace service
