#pragma once

#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/symbolic/lane_program.hpp"

namespace estimator {

/// Encoder readings and joint loads as functions of joint motion and controls, with their
/// derivatives. TreeInverseDynamics is recorded as a program that processes many states at once.
class SensingProgram {
 public:
  enum Section : int { kParameters, kReadings, kSensitivities, kSectionCount };

  /// An entry of the sparse derivatives, stored in a row of the program.
  struct Entry {
    int axis;    ///< index among the requested axes
    int column;  ///< joint angles, rates, accelerations, parameters, controls
    int row;
  };

  /// @param axes        requested axes: sensor · Sensor::kAxes + axis, then the joint loads
  /// (load_axis), then the encoder readings (encoder_axis)
  /// @param parameters  indices of the unknowns; other parameters are constant
  /// @param moving      the first `moving` of them affect the motion
  SensingProgram(const Mechanism& mechanism, std::vector<int> axes, std::vector<int> parameters,
                 int motion_parameters = 0);

  const LaneProgram& program() const { return program_; }
  int joint_count() const { return joint_count_; }
  const std::vector<int>& axes() const { return axes_; }
  int axis_count() const { return static_cast<int>(axes_.size()); }
  const std::vector<int>& parameters() const { return parameters_; }
  int motor_count() const { return motor_count_; }

  /// Indices of the parameters on which an axis depends, beyond those that affect the motion,
  /// ascending: a small subset of all sensor constants.
  const std::vector<int>& constants(int axis) const {
    return constants_[static_cast<std::size_t>(axis)];
  }
  /// A parameter, by its index, on which the delay of an axis' sensor depends.
  struct DelayDependency {
    int place;
    double factor;  ///< derivative of the delay
  };
  /// Empty if the delay is fixed.
  const std::vector<DelayDependency>& delay_dependencies(int axis) const {
    return delay_sources_[static_cast<std::size_t>(axis)];
  }
  /// Column of a parameter in an axis' derivatives, ordered as state, moving parameters, constants
  /// of the axis; −1: there is none.
  /// @param states  number of columns of the state
  int slope_column(int axis, int place, int states) const;

  // Inputs.
  /// The joints' angles, then rates, then accelerations.
  int motion_row(int index) const { return program_.input_row(index); }
  int parameter_row(int place) const { return program_.input_row(3 * joint_count_ + place); }
  /// Control of a joint with a motor, in order.
  int control_row(int motor) const { return program_.input_row(control_column(0) + motor); }
  /// Column of a control in the derivatives.
  int control_column(int motor) const {
    return 3 * joint_count_ + static_cast<int>(parameters_.size()) + motor;
  }
  int column_count() const { return control_column(motor_count_); }

  // Outputs.
  int reading_row(int axis) const { return program_.output_row(kReadings, axis); }
  const std::vector<Entry>& slopes() const { return slopes_; }

 private:
  int joint_count_, motor_count_ = 0;
  std::vector<int> axes_, parameters_;
  int moving_;
  std::vector<std::vector<int>> constants_;
  std::vector<std::vector<DelayDependency>> delay_sources_;
  LaneProgram program_;
  std::vector<Entry> slopes_;
};

/// Axis index of a joint load.
inline int load_axis(const Mechanism& mechanism, int joint, JointLoad load) {
  return mechanism.sensor_count() * Sensor::kAxes + joint * static_cast<int>(JointLoad::kCount) +
         static_cast<int>(load);
}

/// Axis index of an encoder reading, by the encoder's index among those used.
inline int encoder_axis(const Mechanism& mechanism, int sensor) {
  return load_axis(mechanism, mechanism.joint_count(), JointLoad::kTorque) + sensor;
}

/// The parameter that is the delay of an axis' sensor; −1: the axis belongs to no sensor.
int delay_of_axis(const Mechanism& mechanism, int axis);

/// Free parameters of inertial sensors and of delayed encoders, which do not affect the motion.
std::vector<int> sensing_parameters(const Mechanism& mechanism);

}  // namespace estimator
