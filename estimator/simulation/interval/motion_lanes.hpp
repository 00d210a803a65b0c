#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "estimator/simulation/interval/interval_motion.hpp"
#include "estimator/simulation/lane_rows.hpp"
#include "estimator/simulation/tree_program.hpp"

namespace estimator {

/// Integrates 4, 8 or 16 independent states of one mechanism in parallel SIMD lanes. Each state
/// advances by its own substep: one classical fourth-order Runge–Kutta step with constant contacts
/// and linear controls. On request it computes exact derivatives of the step with respect to the
/// start state and the motion parameters.
///
/// The derivatives of the accelerations a follow from the equations of motion r = 0 by one linear
/// solve, da = −(∂r/∂a)⁻¹ (∂r/∂(q, v) d(q, v) + ∂r/∂χ dχ). A step takes four evaluations of the
/// program, four n × n factorizations, and about 16 n² multiplications per direction. Loops are
/// closed at every evaluation (SimdLoopAccelerations), and once more at the end of the step.
///
/// The accessors return rows: arrays of numbers, one per lane.
class SimdMotionIntegrator {
 public:
  /// @param width   number of lanes: 4, 8 or 16
  /// @param slopes  whether steps compute derivatives by state and parameters
  static std::unique_ptr<SimdMotionIntegrator> make(int width, const TreeProgram& program,
                                                    const Mechanism& values, bool slopes);
  virtual ~SimdMotionIntegrator() = default;

  int width() const { return width_; }
  bool has_loops() const { return has_loops_; }
  int joint_count() const { return n_; }
  int coordinate_count() const { return c_; }
  int contact_count() const { return contacts_; }
  int control_count() const { return controls_; }
  /// Returns the number of derivative columns: coordinates, their rates, motion parameters.
  int derivative_column_count() const { return directions_; }

  // Start of the substep; set before a step. Contacts: `slip` is −1, 0 or 1, and `free` 0 if the
  // joint sticks, else 1.
  /// Returns one element of the start state (in all lanes). The state consists of the coordinates
  /// and their rates.
  double* state(int row) { return at(state_, row); }
  /// Returns the initial guess for the angle of a joint in a loop.
  double* guess(int joint) { return at(begin_, joint); }
  double* slip(int joint) { return at(slip_, joint); }
  double* free(int joint) { return at(free_, joint); }
  /// Returns 1 if a contact with the ground is active, else 0.
  double* active(int contact) { return at(active_, contact); }
  double* substep_length() { return at(length_, 0); }  ///< duration of the substep [s]
  /// Return a motor's control at the start of a substep, and its increase until the end of the
  /// substep.
  double* control(int motor) { return at(control_, motor); }
  double* rise(int motor) { return at(rise_, motor); }
  /// Return the derivatives of `control` and `rise` with respect to the control's delay. They must
  /// be set only if derivatives of the step are computed.
  double* control_delay_derivative(int motor) { return at(control_slope_, motor); }
  double* rise_delay_derivative(int motor) { return at(rise_slope_, motor); }
  /// Returns the derivative of one element of the start state in one direction.
  double* slope(int row, int direction) { return at(slopes_, row * directions_ + direction); }

  virtual void step() = 0;
  /// Sets the start states of all lanes to the end states of the last step.
  void continue_from_end_state();

  /// Computes accelerations at the start of the substep and their derivatives. Requires
  /// construction with `slopes`.
  virtual void compute_start_derivatives() = 0;
  /// Computes derivatives of a joint's angle, rate and acceleration in one direction of the start
  /// state. Call it after `compute_start_derivatives`.
  virtual void joint_sensitivities(int joint, int direction, double* angle, double* rate,
                                   double* acceleration) const = 0;

  // Joint motion at the start and at the end of the last step.
  const double* begin_angle(int joint) const { return at(begin_joint_motion(), joint); }
  const double* begin_rate(int joint) const { return at(begin_joint_motion(), n_ + joint); }
  const double* end_angle(int joint) const { return at(end_joint_motion(), joint); }
  const double* end_rate(int joint) const { return at(end_joint_motion(), n_ + joint); }
  /// Returns one element of the state at the end of the last step (in all lanes).
  const double* end_state(int row) const { return at(end_, row); }
  /// Return the derivative of a joint's angle, or of its rate for row joint_count + joint, at the
  /// start and at the end of the last step.
  const double* derivative_at_step_start(int joint_row, int direction) const {
    return at(has_loops_ ? begin_slopes_ : slopes_, joint_row * directions_ + direction);
  }
  const double* derivative_at_step_end(int joint_row, int direction) const {
    return at(has_loops_ ? joint_end_slopes_ : end_slopes_, joint_row * directions_ + direction);
  }

  /// Compute the accelerations for the current contacts, at the start or at the end of the substep.
  virtual void compute_start_accelerations() = 0;
  virtual void compute_end_accelerations() = 0;
  /// Return the acceleration of a coordinate or of a joint, and the angle and rate of a joint.
  const double* coordinate_acceleration(int coordinate) const {
    return at(acceleration_, coordinate);
  }
  const double* joint_acceleration(int joint) const {
    return row(program_.acceleration_row(joint));
  }
  const double* joint_angle(int joint) const { return row(program_.angle_row(joint)); }
  const double* joint_rate(int joint) const { return row(program_.rate_row(joint)); }
  /// Computes the torque that holds a sticking joint [N·m], after the accelerations have been
  /// computed. With loops, it is the residual of the joint's own equation of motion.
  virtual void holding_torque(int joint, double* torque) const = 0;
  /// Returns the largest torque with which friction can hold a joint at rest [N·m].
  const double* holding_torque_bound(int joint) const {
    return row(program_.holding_friction_bound_row(joint));
  }
  /// Return elements of the matrix N and the vector γ that SimdLoopAccelerations defines for a
  /// mechanism with loops, after the accelerations have been computed.
  virtual const double* rate_coupling(int joint, int coordinate) const = 0;
  virtual const double* bias_acceleration(int joint) const = 0;
  /// Return terms of the equations of motion (TreeProgram): the bias torque h, the slip direction σ
  /// and the friction bound B of a joint, and the element M_jk of the mass matrix.
  const double* bias_torque(int joint) const { return row(program_.bias_torque_row(joint)); }
  const double* slip_direction(int joint) const { return row(program_.slip_direction_row(joint)); }
  const double* bound(int joint) const { return row(program_.friction_bound_row(joint)); }
  const double* mass(int j, int k) const { return row(program_.mass_matrix_row(j, k)); }

 protected:
  SimdMotionIntegrator(int width, const TreeProgram& program, const Mechanism& values, bool slopes);

  const TreeProgram& program_;
  int width_, n_, c_, directions_, controls_;
  int contacts_ = 0;   // contacts with the ground
  int equations_ = 0;  // of motion and of contacts; without loops
  bool has_slopes_, has_loops_;
  Rows rows_;  // of the program
  Rows state_, end_, stage_state_, slip_, free_, active_, length_;
  Rows control_, rise_, control_slope_, rise_slope_;
  Rows begin_, joint_end_;                // with loops: joints at begin and end of the step
  Rows begin_slopes_, joint_end_slopes_;  // their derivatives
  Rows acceleration_, stage_[4];          // coordinates
  Rows lu_, inverse_pivot_, inverse_;
  Rows slopes_, end_slopes_;
  Rows linear_[4];  // of each stage: da by q, v (of that instant) and parameters
  Rows by_state_;   // their part by q and v, for some lanes after another
  Rows scratch_;
  Rows direction_scratch_;  // angles, rates and accelerations in some directions, of some lanes
  /// Nonzero derivatives of the equations of motion, by columns; empty with loops.
  std::vector<std::vector<TreeProgram::SparseEntry>> derivative_columns_;

 private:
  double* at(Rows& rows, int index) const {
    return rows.data() + static_cast<std::ptrdiff_t>(index) * width_;
  }
  const double* at(const Rows& rows, int index) const {
    return rows.data() + static_cast<std::ptrdiff_t>(index) * width_;
  }
  const double* row(int index) const { return at(rows_, index); }
  const Rows& begin_joint_motion() const { return has_loops_ ? begin_ : state_; }
  const Rows& end_joint_motion() const { return has_loops_ ? joint_end_ : end_; }
};

/// Copies the start state of an interval to a lane.
inline void set_start_state(SimdMotionIntegrator& lanes, int lane, const MotionInterval& interval) {
  for (int row = 0; row < 2 * lanes.coordinate_count(); ++row) {
    lanes.state(row)[lane] = interval.start[row];
  }
  for (int j = 0; lanes.has_loops() && j < lanes.joint_count(); ++j) {
    lanes.guess(j)[lane] = interval.guess[j];
  }
}

/// Sets the duration, controls and ground contacts of a lane for one segment of a substep.
inline void set_segment_controls(SimdMotionIntegrator& lanes, int lane,
                                 const SegmentControls& controls, int substep, double begin,
                                 double end) {
  lanes.substep_length()[lane] = end - begin;
  for (int contact = 0; contact < lanes.contact_count(); ++contact) {
    lanes.active(contact)[lane] = controls.is_active(substep, contact) ? 1.0 : 0.0;
  }
  const double length = controls.end(substep) - controls.begin(substep);
  const double from = length > 0.0 ? (begin - controls.begin(substep)) / length : 0.0;
  const double share = length > 0.0 ? (end - begin) / length : 0.0;
  for (int m = 0; m < lanes.control_count(); ++m) {
    const double rise = controls.rise(substep, m),
                 slope = controls.rise_delay_derivative(substep, m);
    lanes.control(m)[lane] = controls.value(substep, m) + from * rise;
    lanes.rise(m)[lane] = share * rise;
    lanes.control_delay_derivative(m)[lane] =
        controls.value_delay_derivative(substep, m) + from * slope;
    lanes.rise_delay_derivative(m)[lane] = share * slope;
  }
}

/// Sets the contacts of a lane.
inline void set_contact_states(SimdMotionIntegrator& lanes, int lane, const Contacts& contacts) {
  for (std::size_t j = 0; j < contacts.size(); ++j) {
    const auto joint = static_cast<int>(j);
    lanes.slip(joint)[lane] = slip_direction(contacts[j]);
    lanes.free(joint)[lane] = is_at_rest(contacts[j]) ? 0.0 : 1.0;
  }
}

/// Returns whether an instant belongs to a segment that ends at `end`, given that all earlier
/// instants have been processed. A segment includes its start; only the last segment includes its
/// end.
inline bool is_instant_in_segment(const MotionInterval& interval, double time, int substep,
                                  double end) {
  const bool is_last =
      substep + 1 == interval.last_substep && !(end < interval.controls->end(substep));
  return is_last || time < end - kSampleTolerance * interval.period;
}

/// Returns whether a sample belongs to a segment that ends at `end` (is_instant_in_segment).
inline bool is_sample_in_segment(const MotionInterval& interval, int sample, int substep,
                                 double end) {
  return sample < interval.last_sample &&
         is_instant_in_segment(interval, interval.time(sample), substep, end);
}

/// Weights of the joint angles and rates at both ends of a smooth segment, for cubic Hermite
/// interpolation of an angle or a rate.
struct HermiteWeights {
  double angle_begin, angle_end;  ///< [-]; for a rate [1/s]
  double rate_begin, rate_end;    ///< [s]; for a rate [-]
};

/// Returns the weights of an angle at `time` after the begin of a segment. With the elapsed
/// fraction x = time/length, the angle is θ₀ + x²(3 − 2x) Δθ + x(1 − x)[(1 − x) v₀ − x v₁] length.
inline HermiteWeights hermite_weights(double time, double length) {
  if (!(length > 0.0)) return {0.0, 1.0, 0.0, 0.0};
  const double x = std::clamp(time / length, 0.0, 1.0);
  const double rest = 1.0 - x, turn = x * x * (3.0 - 2.0 * x);
  return {1.0 - turn, turn, x * rest * rest * length, -x * x * rest * length};
}

/// Returns the weights for the interpolation of a rate: the time derivatives of hermite_weights.
inline HermiteWeights hermite_rate_weights(double time, double length) {
  if (!(length > 0.0)) return {0.0, 0.0, 0.0, 1.0};
  const double x = std::clamp(time / length, 0.0, 1.0);
  const double rest = 1.0 - x, turn = 6.0 * x * rest / length;
  return {-turn, turn, rest * (1.0 - 3.0 * x), x * (3.0 * x - 2.0)};
}

/// Returns a joint's angle or rate at an instant within the last step.
inline double interpolate_joint_motion(const SimdMotionIntegrator& lanes, int lane, int joint,
                                       const HermiteWeights& w) {
  return w.angle_begin * lanes.begin_angle(joint)[lane] +
         w.angle_end * lanes.end_angle(joint)[lane] + w.rate_begin * lanes.begin_rate(joint)[lane] +
         w.rate_end * lanes.end_rate(joint)[lane];
}

/// Returns the derivative of `interpolate_joint_motion` in one direction.
inline double interpolate_joint_derivative(const SimdMotionIntegrator& lanes, int lane, int joint,
                                           int direction, const HermiteWeights& w) {
  const int rate = lanes.joint_count() + joint;
  return w.angle_begin * lanes.derivative_at_step_start(joint, direction)[lane] +
         w.angle_end * lanes.derivative_at_step_end(joint, direction)[lane] +
         w.rate_begin * lanes.derivative_at_step_start(rate, direction)[lane] +
         w.rate_end * lanes.derivative_at_step_end(rate, direction)[lane];
}

}  // namespace estimator
