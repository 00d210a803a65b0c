#pragma once

#include <algorithm>

#include "estimator/simulation/lane_rows.hpp"
#include "estimator/simulation/sensing_program.hpp"

namespace estimator {

/// Runs a sensing program on kWidth motions side by side. Rows hold kWidth numbers, one per lane.
template <int kWidth>
class SensingLanes {
 public:
  SensingLanes(const SensingProgram& program, const Mechanism& values)
      : program_(program),
        rows_(static_cast<std::size_t>(program.program().row_count()) * kWidth, 0.0) {
    program.program().fill_constants(rows_.data(), kWidth);
    for (std::size_t i = 0; i < program.parameters().size(); ++i) {
      const auto index = static_cast<std::size_t>(program.parameters()[i]);
      std::fill_n(parameter(static_cast<int>(i)), kWidth, values.parameters[index].value);
    }
    set_parameters();
  }

  /// Returns an input row of the motion: angles of all joints, rates, then accelerations. Set it
  /// before `read`.
  double* motion(int index) { return row_at<kWidth>(rows_, program_.motion_row(index)); }
  /// Returns the input row of a motor's control; motors are in joint order. Set it before `read`.
  double* control(int motor) { return row_at<kWidth>(rows_, program_.control_row(motor)); }
  /// Returns the input row of a parameter. Set it before `set_parameters`.
  double* parameter(int place) { return row_at<kWidth>(rows_, program_.parameter_row(place)); }

  void set_parameters() { run(SensingProgram::kParameters); }
  void read() { run(SensingProgram::kReadings); }
  void linearize() {
    run(SensingProgram::kSensitivities);
  }  ///< computes derivatives; call after `read`

  const double* reading(int axis) const {
    return row_at<kWidth>(rows_, program_.reading_row(axis));
  }
  const double* slope(const SensingProgram::Entry& entry) const {
    return row_at<kWidth>(rows_, entry.row);
  }

 private:
  void run(int section) { program_.program().template run<kWidth>(section, rows_.data()); }

  const SensingProgram& program_;
  Rows rows_;
};

}  // namespace estimator
