#pragma once

#include <memory>

#include "estimator/simulation/lane_rows.hpp"
#include "estimator/simulation/loops/loop_lanes.hpp"
#include "estimator/simulation/tree_program.hpp"

namespace estimator {

/// Integrates kWidth independent states of one mechanism side by side. Each state advances by its
/// own substep: one classical fourth-order Runge–Kutta step with constant contacts and linear
/// controls. On request it computes exact derivatives of the step by the start state and the motion
/// parameters.
///
/// The derivatives of the accelerations a follow from the equations of motion r = 0 by one linear
/// solve, da = −(∂r/∂a)⁻¹ (∂r/∂(q, v) d(q, v) + ∂r/∂χ dχ). A step takes four evaluations of the
/// program, four n × n factorizations, and about 16 n² multiplications per direction. Loops are
/// closed at every evaluation (LoopLanes), and once more at the end of the step.
///
/// A row is an array of kWidth numbers, one per lane.
template <int kWidth>
class MotionLanes {
 public:
  /// @param slopes  whether steps compute derivatives by state and parameters
  MotionLanes(const TreeProgram& program, const Mechanism& values, bool slopes);

  int joint_count() const { return n_; }
  int coordinate_count() const { return c_; }
  int motor_count() const { return motors_; }
  /// Returns the number of derivative columns: coordinates, their rates, motion parameters.
  int direction_count() const { return directions_; }

  // Start of the substep; set before a step. Contacts: `slip` is −1, 0 or 1, and `free` 0 if the
  // joint sticks, else 1.
  /// Returns a row of the start state: coordinates, then their rates.
  double* state(int row) { return at(state_, row); }
  /// Returns the initial guess for the angle of a joint in a loop.
  double* guess(int joint) { return at(begin_, joint); }
  double* slip(int joint) { return at(slip_, joint); }
  double* free(int joint) { return at(free_, joint); }
  double* length() { return at(length_, 0); }  ///< duration of the substep [s]
  /// Return a motor's control at the start of the substep, and its increase until the end.
  double* control(int motor) { return at(control_, motor); }
  double* rise(int motor) { return at(rise_, motor); }
  /// Return the derivatives of `control` and `rise` by the control's delay; needed for derivatives
  /// only.
  double* control_slope(int motor) { return at(control_slope_, motor); }
  double* rise_sensitivity(int motor) { return at(rise_slope_, motor); }
  /// Returns the derivative of a row of the start state in one direction.
  double* slope(int row, int direction) { return at(slopes_, row * directions_ + direction); }

  void step();
  /// Sets the start states of all lanes to the end states of the last step.
  void commit();

  /// Computes accelerations at the start of the substep and their derivatives; requires `slopes`.
  void linearize_at_start();
  /// Computes derivatives of a joint's angle, rate and acceleration in one direction of the start
  /// state. Call it after `linearize_at_start`.
  void joint_sensitivities(int joint, int direction, double* angle, double* rate,
                           double* acceleration) const;

  // Joint motion at the start and at the end of the last step.
  const double* begin_angle(int joint) const { return at(joints_begin(), joint); }
  const double* begin_rate(int joint) const { return at(joints_begin(), n_ + joint); }
  const double* end_angle(int joint) const { return at(joints_end(), joint); }
  const double* end_rate(int joint) const { return at(joints_end(), n_ + joint); }
  /// Returns a row of the state at the end of the last step.
  const double* end_state(int row) const { return at(end_, row); }
  /// Return the derivative of a joint's angle, or of its rate for row joint_count + joint, at the
  /// start and end of the last step.
  const double* begin_slope(int joint_row, int direction) const {
    return at(loops_ ? begin_slopes_ : slopes_, joint_row * directions_ + direction);
  }
  const double* end_slope(int joint_row, int direction) const {
    return at(loops_ ? joint_end_slopes_ : end_slopes_, joint_row * directions_ + direction);
  }

  /// Compute accelerations at the start, or at the end, of the substep for the current contacts.
  void accelerate_at_start();
  void accelerate_at_end();
  /// Return accelerations of a coordinate and of a joint, and a joint's angle and rate.
  const double* acceleration(int coordinate) const { return at(acceleration_, coordinate); }
  const double* joint_acceleration(int joint) const {
    return row(program_.acceleration_row(joint));
  }
  const double* joint_angle(int joint) const { return row(program_.angle_row(joint)); }
  const double* joint_rate(int joint) const { return row(program_.rate_row(joint)); }
  /// Computes the torque that holds a sticking joint [N·m], after `accelerate_at_…`. With loops, it
  /// is the residual of the joint's own equation of motion.
  void holding_torque(int joint, double* torque) const;
  /// Returns the largest torque with which friction can hold a joint at rest [N·m].
  const double* holding_bound(int joint) const { return row(program_.holding_bound_row(joint)); }
  /// Returns the loop computation, valid after `accelerate_at_…`; null for a mechanism without
  /// loops.
  const LoopLanes<kWidth>* loops() const { return loops_.get(); }
  /// Return terms of TreeProgram's equations: h, σ and B at the joint's speed, and M_jk.
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
