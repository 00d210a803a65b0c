#pragma once

#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/symbolic/lane_program.hpp"

namespace estimator {

/// What sensors of a mechanism read of the motion of its joints and of the controls, and what its
/// joints carry, with the derivatives of that: recorded from TreeInverseDynamics as a program that
/// works on many states at a time.
class SensingProgram {
 public:
  enum Section : int { kParameters, kReadings, kSlopes, kSectionCount };

  /// An entry of the sparse derivatives, as a row of the program.
  struct Entry {
    int axis;    ///< its place among those wanted
    int column;  ///< joint angles, rates, accelerations, parameters, controls
    int row;
  };

  /// @param axes        that are wanted: sensor · InertialSensor::kAxes + axis; behind those of all
  ///                    sensors come the loads of joints (load_axis), and behind these what
  ///                    encoders read (encoder_axis)
  /// @param parameters  indices of those that are unknowns; the others keep their values
  /// @param moving      so many of them, the first, move the mechanism
  SensingProgram(const Mechanism& mechanism, std::vector<int> axes, std::vector<int> parameters,
                 int moving = 0);

  const LaneProgram& program() const { return program_; }
  int joint_count() const { return joint_count_; }
  const std::vector<int>& axes() const { return axes_; }
  int axis_count() const { return static_cast<int>(axes_.size()); }
  const std::vector<int>& parameters() const { return parameters_; }
  int motor_count() const { return motor_count_; }

  /// Places of the parameters that an axis reads by, beyond those that move the mechanism, rising:
  /// of all sensors' constants few.
  const std::vector<int>& constants(int axis) const {
    return constants_[static_cast<std::size_t>(axis)];
  }
  /// A parameter, by its place, that the delay of an axis' sensor is or follows from.
  struct DelaySource {
    int place;
    double factor;  ///< how much it moves the delay
  };
  /// None where the delay is held.
  const std::vector<DelaySource>& delay_sources(int axis) const {
    return delay_sources_[static_cast<std::size_t>(axis)];
  }
  /// In a row of an axis' derivatives along first the state, then what moves the mechanism, then
  /// its constants, the column of a parameter; −1: there is none.
  /// @param states  columns of the state
  int slope_column(int axis, int place, int states) const;

  // Inputs.
  /// Of the joints' angles, then rates, then accelerations.
  int motion_row(int index) const { return program_.input_row(index); }
  int parameter_row(int place) const { return program_.input_row(3 * joint_count_ + place); }
  /// Of a joint with a motor, in their order.
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
  std::vector<std::vector<DelaySource>> delay_sources_;
  LaneProgram program_;
  std::vector<Entry> slopes_;
};

/// The axis that is a load of a joint.
inline int load_axis(const Mechanism& mechanism, int joint, JointLoad load) {
  return mechanism.inertial_count() * InertialSensor::kAxes +
         joint * static_cast<int>(JointLoad::kCount) + static_cast<int>(load);
}

/// The axis that is what an encoder reads, by its place among those that are used.
inline int encoder_axis(const Mechanism& mechanism, int sensor) {
  return load_axis(mechanism, mechanism.hinge_count(), JointLoad::kTorque) + sensor;
}

/// The parameter that is the delay of an axis' sensor; −1: what it reads is of no sensor.
int delay_of_axis(const Mechanism& mechanism, int axis);

/// Free parameters of inertial sensors and of encoders that are late, which move nothing.
std::vector<int> sensing_parameters(const Mechanism& mechanism);

}  // namespace estimator
