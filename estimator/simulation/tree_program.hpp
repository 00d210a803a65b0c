#pragma once

#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/coordinate_choice.hpp"
#include "estimator/simulation/segment_controls.hpp"
#include "estimator/symbolic/lane_program.hpp"

namespace estimator {

/// The equations of motion of one mechanism and their derivatives. TreeInverseDynamics is recorded
/// as a program that processes many states at once. Fixed parameters become constants.
///
/// Let q, v, a be joint angles, rates and accelerations, σ the slip direction of a joint (0 if it
/// sticks) and B the bound of its dry friction. The motion of a tree obeys
///
///   r(q, v, a) = M(q) a + h(q, v, u) + σ B(v, a) = 0    for every slipping joint.
///
/// For smoothed Coulomb friction σ = tanh(v/transition velocity), and the joint always slips. B
/// depends on a if friction is proportional to the load of the bearing. Loops are closed by
///
///   c(q) = 0,   G v = 0,   G a + g(q, v) = 0,   G = ∂c/∂q.
///
/// The choice of coordinates selects the rows of c; their reactions λ add Gᵀ λ to r.
class TreeProgram {
 public:
  enum Section : int {
    kParameters,     ///< terms that depend on parameters alone
    kClosure,        ///< c and G; empty without loops
    kBalance,        ///< h, M, g, and B if it does not depend on the load
    kLoad,           ///< B and its derivative by a; empty if no friction depends on the load
    kSensitivities,  ///< derivatives of r and of the closures by q, v and parameters at fixed a, λ
    kSectionCount
  };

  /// An entry of a sparse matrix, stored in a row of the program.
  struct Entry {
    int joint;   ///< row: equation of a joint, or closure
    int column;  ///< unknown
    int row;
  };

  /// @param coordinates  for a mechanism with loops; in a tree every joint is independent
  explicit TreeProgram(const Mechanism& mechanism, CoordinateChoice coordinates);
  explicit TreeProgram(const Mechanism& mechanism)
      : TreeProgram(mechanism, all_independent(mechanism)) {}

  const LaneProgram& program() const { return program_; }
  int joint_count() const { return joint_count_; }
  /// Joints whose coordinates form the state of the mechanism; all joints without loops.
  const std::vector<int>& independent() const { return coordinates_.independent; }
  const std::vector<int>& dependent() const { return coordinates_.dependent; }
  int coordinate_count() const { return static_cast<int>(independent().size()); }
  bool has_loops() const { return !dependent().empty(); }
  bool is_load_dependent() const { return load_dependent_; }
  /// Whether a joint has, or may get, dry friction that can hold it.
  bool is_dry(int joint) const { return dry_[static_cast<std::size_t>(joint)]; }

  /// Free parameters that affect the motion, as indices of the mechanism's parameters: the columns
  /// of the derivatives.
  const std::vector<int>& motion_parameters() const { return moving_; }
  /// A moving parameter, by its index, on which a motor's delay depends.
  struct DelayDependency {
    int place;
    double factor;  ///< derivative of the delay
  };
  /// Dependencies of a motor's delay, by its index; empty if the delay is fixed.
  const std::vector<DelayDependency>& delay_dependencies(int motor) const {
    return delay_sources_[static_cast<std::size_t>(motor)];
  }
  /// Joints with a motor, in the order of the controls.
  const std::vector<int>& motors() const { return motors_; }

  // Inputs.
  int angle_row(int joint) const { return input(joint); }
  int rate_row(int joint) const { return input(joint_count_ + joint); }
  int acceleration_row(int joint) const { return input(2 * joint_count_ + joint); }
  int slip_row(int joint) const { return input(3 * joint_count_ + joint); }
  int control_row(int motor) const { return input(4 * joint_count_ + motor); }
  /// Derivative of a control by its own delay, needed by kSensitivities.
  int control_slope_row(int motor) const { return input(4 * joint_count_ + motor_count() + motor); }
  /// Reaction of a closure, needed by kSensitivities.
  int reaction_row(int closure) const {
    return input(4 * joint_count_ + 2 * motor_count() + closure);
  }
  /// Value of a moving parameter, by its index among them.
  int parameter_row(int place) const {
    return input(4 * joint_count_ + 2 * motor_count() + closure_count() + place);
  }

  // Outputs.
  /// c, for the selected closures.
  int closure_row(int closure) const { return program_.output_row(kClosure, closure); }
  /// G.
  int closure_slope_row(int closure, int joint) const {
    return program_.output_row(kClosure, closure_count() * (1 + joint) + closure);
  }
  /// g: time derivative of G v without accelerations.
  int closure_drift_row(int closure) const {
    return program_.output_row(kBalance, drift_at_ + closure);
  }
  /// σ; equal to `slip_row` without smoothed friction.
  int direction_row(int joint) const { return direction_rows_[static_cast<std::size_t>(joint)]; }
  int balance_row(int joint) const { return program_.output_row(kBalance, joint); }
  /// M_jk.
  int mass_row(int j, int k) const {
    return program_.output_row(kBalance, joint_count_ + j * joint_count_ + k);
  }
  /// B at the joint's speed, and at rest.
  int bound_row(int joint) const { return program_.output_row(bound_section(), bound_at(joint)); }
  int holding_bound_row(int joint) const {
    return program_.output_row(bound_section(), bound_at(joint_count_ + joint));
  }
  /// ∂B/∂a.
  const std::vector<Entry>& bound_slopes() const { return bound_slopes_; }
  /// ∂(r + Gᵀ λ)/∂(q, v, moving parameters), columns in this order.
  const std::vector<Entry>& slopes() const { return slopes_; }
  /// The same for c (by parameters alone), G v (not by v) and G a + g.
  const std::vector<Entry>& closure_slopes() const { return closure_slopes_[0]; }
  const std::vector<Entry>& closure_rate_slopes() const { return closure_slopes_[1]; }
  const std::vector<Entry>& closure_acceleration_slopes() const { return closure_slopes_[2]; }

 private:
  void find_moving(const Mechanism& mechanism);
  int input(int index) const { return program_.input_row(index); }
  int motor_count() const { return static_cast<int>(motors_.size()); }
  int closure_count() const { return static_cast<int>(coordinates_.rows.size()); }
  int bound_section() const { return load_dependent_ ? kLoad : kBalance; }
  int bound_at(int index) const {
    return load_dependent_ ? index : joint_count_ + joint_count_ * joint_count_ + index;
  }

  int joint_count_;
  CoordinateChoice coordinates_;
  int drift_at_ = 0;
  bool load_dependent_ = false;
  std::vector<bool> dry_, creeps_;
  std::vector<int> moving_, motors_;
  std::vector<std::vector<DelayDependency>> delay_sources_;  // of each motor
  LaneProgram program_;
  std::vector<int> direction_rows_;
  std::vector<Entry> bound_slopes_, slopes_, closure_slopes_[3];
};

/// Delays of the motors' controls.
std::vector<ControlDelay> control_delays(const TreeProgram& program, const Mechanism& values);

}  // namespace estimator
