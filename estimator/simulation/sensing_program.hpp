#pragma once

#include <algorithm>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/lane_rows.hpp"
#include "estimator/symbolic/lane_program.hpp"

namespace estimator {

/// Computes sensor readings and joint loads, and their derivatives, from joint motion and controls.
/// The program is recorded from TreeInverseDynamics and evaluates many states at once.
class SensingProgram {
 public:
  enum Section : int { kParameters, kReadings, kSensitivities, kSectionCount };

  /// A nonzero derivative of a reading: its position in the matrix of derivatives, and the program
  /// row that contains its value.
  struct SparseEntry {
    int axis;    ///< index among the requested axes
    int column;  ///< column among joint angles, rates, accelerations, parameters, controls
    int row;
  };

  /// @param axes        requested axes: sensor · Sensor::kAxes + axis, then joint loads
  /// (joint_load_axis), then encoder readings (encoder_axis)
  /// @param parameters  indices of the estimated parameters; other parameters are constant
  /// @param motion_parameters  number of these that affect the motion; they come first
  SensingProgram(const Mechanism& mechanism, std::vector<int> axes, std::vector<int> parameters,
                 int motion_parameters = 0);

  const SimdProgram& program() const { return program_; }
  int joint_count() const { return joint_count_; }
  const std::vector<int>& axes() const { return axes_; }
  int axis_count() const { return static_cast<int>(axes_.size()); }
  const std::vector<int>& parameters() const { return parameters_; }
  int control_count() const { return control_count_; }

  /// Returns the indices of the parameters that affect the readings of a sensor axis but not the
  /// motion, in ascending order.
  const std::vector<int>& sensor_parameters(int axis) const { return constants_[axis]; }
  /// A parameter on which the delay of a sensor depends, by its index in `parameters`.
  struct DelayDependency {
    int place;
    double factor;  ///< derivative of the delay by the parameter
  };
  /// Returns the parameters on which the delay of an axis' sensor depends; empty if the delay is
  /// fixed.
  const std::vector<DelayDependency>& delay_dependencies(int axis) const {
    return delay_sources_[axis];
  }
  /// Returns the column of a parameter in the matrix of derivatives of a sensor axis; −1 if the
  /// axis does not depend on the parameter. The columns are: state, motion parameters, sensor
  /// parameters of the axis.
  /// @param states  number of columns of the state
  int derivative_column(int axis, int place, int states) const;

  // Inputs.
  /// Returns one of the program's input rows for the motion: angles of all joints, then rates, then
  /// accelerations.
  int motion_row(int index) const { return program_.input_row(index); }
  int parameter_row(int place) const { return program_.input_row(3 * joint_count_ + place); }
  /// Returns the program's input row for a motor's control; motors are in joint order.
  int control_row(int motor) const { return program_.input_row(control_column(0) + motor); }
  /// Returns the column of a motor's control in the derivatives.
  int control_column(int motor) const {
    return 3 * joint_count_ + static_cast<int>(parameters_.size()) + motor;
  }
  int column_count() const { return control_column(control_count_); }

  // Outputs.
  int reading_row(int axis) const { return program_.output_row(kReadings, axis); }
  const std::vector<SparseEntry>& derivatives() const { return slopes_; }

 private:
  int joint_count_, control_count_ = 0;
  std::vector<int> axes_, parameters_;
  int moving_;
  std::vector<std::vector<int>> constants_;
  std::vector<std::vector<DelayDependency>> delay_sources_;
  SimdProgram program_;
  std::vector<SparseEntry> slopes_;
};

/// Returns the index of the axis with which SensingProgram computes a joint load.
inline int joint_load_axis(const Mechanism& mechanism, int joint, JointLoad load) {
  return mechanism.sensor_count() * Sensor::kAxes + joint * static_cast<int>(JointLoad::kCount) +
         static_cast<int>(load);
}

/// Returns the index of the axis with which SensingProgram computes an encoder's reading.
/// @param sensor  index among the used encoders
inline int encoder_axis(const Mechanism& mechanism, int sensor) {
  return joint_load_axis(mechanism, mechanism.joint_count(), JointLoad::kTorque) + sensor;
}

/// Returns the index of the parameter that is the delay of an axis' sensor; −1 for a joint load.
int delay_parameter_of_axis(const Mechanism& mechanism, int axis);

/// Returns the free parameters of inertial sensors and of delayed encoders that do not affect the
/// motion.
std::vector<int> free_sensor_parameters(const Mechanism& mechanism);

/// Runs a SensingProgram for kWidth motions in parallel SIMD lanes. Rows contain kWidth numbers,
/// one per lane.
template <int kWidth>
class SimdSensorReadings {
 public:
  SimdSensorReadings(const SensingProgram& program, const Mechanism& values)
      : program_(program),
        rows_(static_cast<std::size_t>(program.program().row_count()) * kWidth, 0.0) {
    program.program().fill_constants(rows_.data(), kWidth);
    for (std::size_t i = 0; i < program.parameters().size(); ++i) {
      const auto index = static_cast<std::size_t>(program.parameters()[i]);
      std::fill_n(parameter(static_cast<int>(i)), kWidth, values.parameters[index].value);
    }
    compute_parameter_terms();
  }

  /// Returns one of the program's input rows for the motion: angles of all joints, rates, then
  /// accelerations. Set it before `read`.
  double* motion(int index) { return row_at<kWidth>(rows_, program_.motion_row(index)); }
  /// Returns the program's input row for a motor's control; motors are in joint order. Set it
  /// before `read`.
  double* control(int motor) { return row_at<kWidth>(rows_, program_.control_row(motor)); }
  /// Returns the program's input row for a parameter. Set it before `compute_parameter_terms`.
  double* parameter(int place) { return row_at<kWidth>(rows_, program_.parameter_row(place)); }

  void compute_parameter_terms() { run(SensingProgram::kParameters); }
  void read() { run(SensingProgram::kReadings); }
  void linearize() {
    run(SensingProgram::kSensitivities);
  }  ///< computes derivatives; call after `read`

  const double* reading(int axis) const {
    return row_at<kWidth>(rows_, program_.reading_row(axis));
  }
  const double* slope(const SensingProgram::SparseEntry& entry) const {
    return row_at<kWidth>(rows_, entry.row);
  }

 private:
  void run(int section) { program_.program().template run<kWidth>(section, rows_.data()); }

  const SensingProgram& program_;
  Rows rows_;
};

}  // namespace estimator
