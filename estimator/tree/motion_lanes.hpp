#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/tree/tree_program.hpp"

namespace estimator {

/// Moves kWidth independent states of one mechanism on side by side, each by a stretch of its own:
/// one classical Runge–Kutta step of fourth order along which contacts and the slope of the
/// controls stay as they are. Derivatives along the start state and the moving parameters come with
/// it where they are wanted: those of the Runge–Kutta step itself, exact.
///
/// Derivatives of the accelerations follow from those of the equations of motion by one solve,
/// da = −(∂r/∂a)⁻¹ (∂r/∂(q, v) d(q, v) + ∂r/∂χ dχ). A step costs four evaluations of the program,
/// four factorisations of n × n, and some 16 n² multiplications a direction.
///
/// Rows are arrays of kWidth numbers, one a lane.
template <int kWidth>
class MotionLanes {
 public:
  /// @param slopes  whether steps carry derivatives along
  MotionLanes(const TreeProgram& program, const Mechanism& values, bool slopes);

  int joint_count() const { return n_; }
  int motor_count() const { return motors_; }
  /// Columns of the derivatives: angles, rates, moving parameters.
  int direction_count() const { return directions_; }

  // The start of the stretch; to be written before a step. Contacts: `slip` is −1, 0 or 1, and
  // `free` 0 where the joint sticks, else 1.
  double* angle(int joint) { return at(state_, joint); }
  double* rate(int joint) { return at(state_, n_ + joint); }
  double* slip(int joint) { return at(slip_, joint); }
  double* free(int joint) { return at(free_, joint); }
  double* length() { return at(length_, 0); }  ///< [s]
  /// Control of a motor where the stretch begins, and what it grows by until it ends.
  double* control(int motor) { return at(control_, motor); }
  double* rise(int motor) { return at(rise_, motor); }
  /// The same of the control's derivative along its delay; for slopes alone.
  double* control_slope(int motor) { return at(control_slope_, motor); }
  double* rise_slope(int motor) { return at(rise_slope_, motor); }
  /// Derivative of angle or rate (joint_count + joint) along a direction.
  double* slope(int coordinate, int direction) {
    return at(slopes_, coordinate * directions_ + direction);
  }

  // The end of the stretch, after a step.
  const double* end_angle(int joint) const { return at(end_, joint); }
  const double* end_rate(int joint) const { return at(end_, n_ + joint); }
  const double* end_slope(int coordinate, int direction) const {
    return at(end_slopes_, coordinate * directions_ + direction);
  }

  void step();
  /// Puts all lanes where the last step ended.
  void commit();

  /// Accelerations at the start of the stretch (after it: at its end), for contacts as they are.
  void accelerate_at_start();
  void accelerate_at_end();
  const double* acceleration(int joint) const { return at(acceleration_, joint); }
  /// What keeps a joint that sticks in its place, after `accelerate_at_…` [N·m].
  void holding_torque(int joint, double* torque) const;
  /// What friction can hold it with, at most [N·m].
  const double* holding_bound(int joint) const { return row(program_.holding_bound_row(joint)); }

 private:
  using Rows = std::vector<double, Eigen::aligned_allocator<double>>;
  static double* at(Rows& rows, int index) { return rows.data() + index * kWidth; }
  static const double* at(const Rows& rows, int index) { return rows.data() + index * kWidth; }
  double* row(int index) { return at(rows_, index); }
  const double* row(int index) const { return at(rows_, index); }

  void set_controls(double share);
  void set_state(const Rows& state, double* acceleration, double share);
  void balance();
  void factor();
  void solve(double* right) const;
  void solve_with_load();
  void linearize(int stage);
  void move_slopes();

  const TreeProgram& program_;
  int n_, directions_, motors_;
  bool has_slopes_;
  Rows rows_;  // of the program
  Rows state_, end_, slip_, free_, length_, control_, rise_, control_slope_, rise_slope_;
  Rows acceleration_, stage_[4];  // joints
  Rows lu_, inverse_pivot_, inverse_;
  Rows slopes_, end_slopes_;
  Rows linear_[4];  // of each stage: da along q, v (as they are then) and parameters
  Rows scratch_;
};

extern template class MotionLanes<4>;
extern template class MotionLanes<16>;

}  // namespace estimator
