#pragma once

#include <memory>

#include "estimator/simulation/lane_rows.hpp"
#include "estimator/simulation/loop_lanes.hpp"
#include "estimator/simulation/tree_program.hpp"

namespace estimator {

/// Advances kWidth independent states of one mechanism side by side, each by its own substep: one
/// classical fourth-order Runge–Kutta step with constant contacts and linear controls. On request
/// it also computes the step's exact derivatives by the start state and the moving parameters.
///
/// Derivatives of the accelerations follow from those of the equations of motion by one solve, da =
/// −(∂r/∂a)⁻¹ (∂r/∂(q, v) d(q, v) + ∂r/∂χ dχ). A step costs four evaluations of the program, four
/// factorizations of n × n matrices, and some 16 n² multiplications per direction. Loops are closed
/// at every evaluation (LoopLanes), and once more at the end of the step.
///
/// Rows are arrays of kWidth numbers, one per lane.
template <int kWidth>
class MotionLanes {
 public:
  /// @param slopes  whether steps compute derivatives
  MotionLanes(const TreeProgram& program, const Mechanism& values, bool slopes);

  int joint_count() const { return n_; }
  int coordinate_count() const { return c_; }
  int motor_count() const { return motors_; }
  /// Columns of the derivatives: coordinates, their rates, moving parameters.
  int direction_count() const { return directions_; }

  // Start of the substep; set before a step. Contacts: `slip` is −1, 0 or 1, and `free` 0 if the
  // joint sticks, else 1.
  /// Coordinates over their rates.
  double* state(int row) { return at(state_, row); }
  /// Initial guess for a joint that closes a loop.
  double* guess(int joint) { return at(begin_, joint); }
  double* slip(int joint) { return at(slip_, joint); }
  double* free(int joint) { return at(free_, joint); }
  double* length() { return at(length_, 0); }  ///< [s]
  /// Control of a motor at the begin of the substep, and its increase until the end.
  double* control(int motor) { return at(control_, motor); }
  double* rise(int motor) { return at(rise_, motor); }
  /// Derivatives of these by the control's delay; used for derivatives only.
  double* control_slope(int motor) { return at(control_slope_, motor); }
  double* rise_sensitivity(int motor) { return at(rise_slope_, motor); }
  /// Derivative of a row of the state in a direction.
  double* slope(int row, int direction) { return at(slopes_, row * directions_ + direction); }

  void step();
  /// Sets the start of all lanes to the end of the last step.
  void commit();

  /// Computes accelerations at the start of the substep and their derivatives; requires `slopes`.
  void linearize_at_start();
  /// Derivatives of a joint's angle, rate and acceleration in one direction of the state; call
  /// after `linearize_at_start`.
  void joint_sensitivities(int joint, int direction, double* angle, double* rate,
                           double* acceleration) const;

  // Joints at the begin and at the end of the last step.
  const double* begin_angle(int joint) const { return at(joints_begin(), joint); }
  const double* begin_rate(int joint) const { return at(joints_begin(), n_ + joint); }
  const double* end_angle(int joint) const { return at(joints_end(), joint); }
  const double* end_rate(int joint) const { return at(joints_end(), n_ + joint); }
  /// The state at the end of the last step.
  const double* end_state(int row) const { return at(end_, row); }
  /// Derivatives of a joint's angle (or rate: joint_count + joint).
  const double* begin_slope(int joint_row, int direction) const {
    return at(loops_ ? begin_slopes_ : slopes_, joint_row * directions_ + direction);
  }
  const double* end_slope(int joint_row, int direction) const {
    return at(loops_ ? joint_end_slopes_ : end_slopes_, joint_row * directions_ + direction);
  }

  /// Computes accelerations at the start (or end) of the substep for the present contacts.
  void accelerate_at_start();
  void accelerate_at_end();
  /// Results: accelerations of a coordinate and of a joint, and a joint's angle and rate.
  const double* acceleration(int coordinate) const { return at(acceleration_, coordinate); }
  const double* joint_acceleration(int joint) const {
    return row(program_.acceleration_row(joint));
  }
  const double* joint_angle(int joint) const { return row(program_.angle_row(joint)); }
  const double* joint_rate(int joint) const { return row(program_.rate_row(joint)); }
  /// Torque that holds a sticking joint, after `accelerate_at_…` [N·m]; with loops, the residual of
  /// the joint's own equation.
  void holding_torque(int joint, double* torque) const;
  /// Largest torque with which friction can hold it [N·m].
  const double* holding_bound(int joint) const { return row(program_.holding_bound_row(joint)); }
  /// Loop quantities, after `accelerate_at_…`; null for a tree.
  const LoopLanes<kWidth>* loops() const { return loops_.get(); }
  /// h, σ, B at the joint's speed, and M_jk.
  const double* balance(int joint) const { return row(program_.balance_row(joint)); }
  const double* direction(int joint) const { return row(program_.direction_row(joint)); }
  const double* bound(int joint) const { return row(program_.bound_row(joint)); }
  const double* mass(int j, int k) const { return row(program_.mass_row(j, k)); }

 private:
  static double* at(Rows& rows, int index) { return row_at<kWidth>(rows, index); }
  static const double* at(const Rows& rows, int index) { return row_at<kWidth>(rows, index); }
  const Rows& joints_begin() const { return loops_ ? begin_ : state_; }
  const Rows& joints_end() const { return loops_ ? joint_end_ : end_; }
  double* row(int index) { return at(rows_, index); }
  const double* row(int index) const { return at(rows_, index); }

  void set_controls(double share);
  void set_state(const Rows& state, double* acceleration, double share);
  void set_slips();
  void forget_accelerations();
  void factor();
  void solve(double* right) const { solve_lanes<kWidth>(n_, lu_, inverse_pivot_, right); }
  void solve_tree();
  void solve_with_load();
  void guess_joints(const Rows& joints);
  void keep_joints(Rows& joints) const;
  void store_sensitivities(const Rows& slopes, Rows& joint_sensitivities) const;
  void finish_loops();
  void linearize(int stage);
  void advance_sensitivities();

  const TreeProgram& program_;
  int n_, c_, directions_, motors_;
  bool has_slopes_;
  std::unique_ptr<LoopLanes<kWidth>> loops_;
  Rows rows_;  // of the program
  Rows state_, end_, stage_state_, slip_, free_, length_;
  Rows control_, rise_, control_slope_, rise_slope_;
  Rows begin_, joint_end_;                // with loops: joints at begin and end of the step
  Rows begin_slopes_, joint_end_slopes_;  // their derivatives
  Rows acceleration_, stage_[4];          // coordinates
  Rows lu_, inverse_pivot_, inverse_;
  Rows slopes_, end_slopes_;
  Rows linear_[4];  // of each stage: da by q, v (of that instant) and parameters
  Rows scratch_;
};

extern template class MotionLanes<4>;
extern template class MotionLanes<8>;
extern template class MotionLanes<16>;

}  // namespace estimator
