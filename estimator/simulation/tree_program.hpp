#pragma once

#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/simulation/lane_rows.hpp"
#include "estimator/simulation/segment_controls.hpp"
#include "estimator/symbolic/lane_program.hpp"

namespace estimator {

/// The chosen independent joint coordinates (the state), and the loop-closure equations that
/// determine the dependent coordinates.
struct CoordinateChoice {
  std::vector<int> independent = {};  ///< joints, ascending
  std::vector<int> dependent = {};    ///< all other joints, ascending
  std::vector<int> rows = {};  ///< indices of the loop-closure equations, one per dependent joint
};

/// Returns the choice of coordinates for a mechanism without loops: all joints are independent.
inline CoordinateChoice choose_all_coordinates(const Mechanism& mechanism) {
  CoordinateChoice choice;
  choice.independent.resize(mechanism.joints.size());
  std::iota(choice.independent.begin(), choice.independent.end(), 0);
  return choice;
}

/// The equations of motion of one mechanism and their derivatives, recorded from
/// TreeInverseDynamics as a program that evaluates many states at once. Fixed parameters become
/// constants.
///
/// Let q, v, a be joint angles, rates and accelerations, and u the controls. σ is a joint's slip
/// direction (0 if it sticks), and B the bound of its dry friction. Without loops the motion obeys
///
///   r(q, v, a) = M(q) a + h(q, v, u) + σ B(v, a) = 0    for every slipping joint.
///
/// Smoothed Coulomb friction has σ = tanh(v/transition velocity), and such a joint always slips. B
/// depends on a if friction is proportional to the bearing load. Closed loops add the equations
///
///   c(q) = 0,   G v = 0,   G a + g(q, v) = 0,   G = ∂c/∂q.
///
/// The chosen coordinates select the rows of c. The loop reactions λ add Gᵀ λ to r.
///
/// Contacts with the ground add equations of the same form. Their c is the position of each contact
/// point, which stays constant while the contact is active. They act at the level of accelerations,
/// so that all joints remain independent.
class TreeProgram {
 public:
  enum Section : int {
    kParameters,     ///< terms that depend only on parameters
    kClosure,        ///< c and G; empty without loops and contacts
    kBalance,        ///< h, M, g, and B if it does not depend on the load
    kLoad,           ///< B and its derivative by a; empty if no friction depends on the load
    kSensitivities,  ///< derivatives of r and of the loop closures by q, v, parameters at fixed a,
                     ///< λ
    kSectionCount
  };

  /// A nonzero element of a sparse matrix: its row and column, and the program row that contains
  /// its value.
  struct SparseEntry {
    int joint;   ///< matrix row: equation of a joint, or loop-closure equation
    int column;  ///< matrix column: unknown
    int row;
  };

  /// @param coordinates  choice of independent joints; in a mechanism without loops, all joints
  explicit TreeProgram(const Mechanism& mechanism, CoordinateChoice coordinates);
  explicit TreeProgram(const Mechanism& mechanism)
      : TreeProgram(mechanism, choose_all_coordinates(mechanism)) {}

  const SimdProgram& program() const { return program_; }
  int joint_count() const { return joint_count_; }
  /// Returns the joints whose coordinates form the state; without loops these are all joints.
  const std::vector<int>& independent_joints() const { return coordinates_.independent; }
  const std::vector<int>& dependent_joints() const { return coordinates_.dependent; }
  int independent_joints(int index) const { return independent_joints()[index]; }
  int dependent_joints(int index) const { return dependent_joints()[index]; }
  int coordinate_count() const { return static_cast<int>(independent_joints().size()); }
  bool has_loops() const { return !dependent_joints().empty(); }
  /// Returns the contact to which each contact equation belongs. These equations follow those of
  /// loop closures.
  const std::vector<int>& contact_of_equation() const { return contact_of_equation_; }
  int contact_equation_count() const { return static_cast<int>(contact_of_equation_.size()); }
  /// Returns the index of a contact equation among all closure equations.
  int contact_equation(int index) const {
    return static_cast<int>(coordinates_.rows.size()) + index;
  }
  /// Returns whether reactions of contacts act on a joint; they do not change a prescribed motion.
  bool bears_contact_reactions(int joint) const { return bears_reactions_[joint]; }
  bool has_load_dependent_friction() const { return load_dependent_; }
  /// Returns whether dry friction can hold a joint at rest, now or after estimation.
  bool has_holding_friction(int joint) const { return dry_[joint]; }

  /// Returns the indices of the free parameters that affect the motion. They are the parameter
  /// columns of the derivatives.
  const std::vector<int>& motion_parameters() const { return moving_; }
  /// A parameter on which the delay of a motor depends, by its index among the motion parameters.
  struct DelayDependency {
    int place;
    double factor;  ///< derivative of the delay by the parameter
  };
  /// Returns the parameters on which the delay of a motor depends; empty if the delay is fixed.
  const std::vector<DelayDependency>& delay_dependencies(int motor) const {
    return delay_sources_[motor];
  }
  /// Returns the joints that have a motor, in the order of the controls.
  const std::vector<int>& motor_joints() const { return motors_; }
  /// Returns whether the equations of motion depend on time, which is then the last control [s].
  bool depends_on_time() const { return depends_on_time_; }
  /// Returns the number of controls: one per motor, and the time if the equations depend on it.
  int control_count() const {
    return static_cast<int>(motors_.size()) + (depends_on_time_ ? 1 : 0);
  }

  /// Returns the rows of the program for `width` lanes, with constants and motion parameters set.
  Rows make_value_rows(const Mechanism& values, int width) const;

  // Inputs.
  int angle_row(int joint) const { return input(joint); }
  int rate_row(int joint) const { return input(joint_count_ + joint); }
  int acceleration_row(int joint) const { return input(2 * joint_count_ + joint); }
  int slip_input_row(int joint) const { return input(3 * joint_count_ + joint); }
  int control_row(int motor) const { return input(4 * joint_count_ + motor); }
  /// Returns the program's input row for the derivative of a control with respect to its delay;
  /// kSensitivities reads it.
  int control_derivative_row(int motor) const {
    return input(4 * joint_count_ + control_count() + motor);
  }
  /// Returns the program's input row for the reaction of a loop-closure equation; kSensitivities
  /// reads it.
  int loop_reaction_row(int closure) const {
    return input(4 * joint_count_ + 2 * control_count() + closure);
  }
  /// Returns the program's input row for a motion parameter, by its index among the motion
  /// parameters.
  int parameter_row(int place) const {
    return input(4 * joint_count_ + 2 * control_count() + closure_equation_count() + place);
  }

  // Outputs.
  /// Returns the program's output row for the violation c of a selected loop-closure equation.
  int closure_violation_row(int closure) const { return program_.output_row(kClosure, closure); }
  /// Returns the program's output row for the Jacobian element G = ∂c/∂q of a loop-closure equation
  /// and joint.
  int closure_jacobian_row(int closure, int joint) const {
    return program_.output_row(kClosure, closure_equation_count() * (1 + joint) + closure);
  }
  /// Returns the program's output row for g, the part of the time derivative of G v without
  /// accelerations.
  int closure_drift_row(int closure) const {
    return program_.output_row(kBalance, drift_at_ + closure);
  }
  /// Returns the row of the slip direction σ; without smoothed friction it equals `slip_input_row`.
  int slip_direction_row(int joint) const { return direction_rows_[joint]; }
  int bias_torque_row(int joint) const { return program_.output_row(kBalance, joint); }
  /// Returns the program's output row for the mass matrix element M_jk.
  int mass_matrix_row(int j, int k) const {
    return program_.output_row(kBalance, joint_count_ + j * joint_count_ + k);
  }
  /// Return the program's output rows for the dry-friction bound B at the joint's speed, and at
  /// rest.
  int friction_bound_row(int joint) const {
    return program_.output_row(friction_bound_section(), friction_bound_index(joint));
  }
  int holding_friction_bound_row(int joint) const {
    return program_.output_row(friction_bound_section(),
                               friction_bound_index(joint_count_ + joint));
  }
  /// Returns the derivatives of the dry-friction bounds B with respect to the accelerations a.
  const std::vector<SparseEntry>& friction_bound_derivatives() const { return bound_slopes_; }
  /// Returns ∂(r + Gᵀ λ)/∂(q, v, motion parameters); columns are in this order.
  const std::vector<SparseEntry>& derivatives() const { return slopes_; }
  /// Return the derivatives of the loop-closure equations: of c with respect to parameters, of G v
  /// with respect to q and parameters, and of G a + g.
  const std::vector<SparseEntry>& closure_derivatives() const { return closure_slopes_[0]; }
  const std::vector<SparseEntry>& closure_rate_derivatives() const { return closure_slopes_[1]; }
  const std::vector<SparseEntry>& closure_acceleration_derivatives() const {
    return closure_slopes_[2];
  }

 private:
  void find_motion_parameters(const Mechanism& mechanism);
  int input(int index) const { return program_.input_row(index); }
  int closure_equation_count() const { return contact_equation(contact_equation_count()); }
  int friction_bound_section() const { return load_dependent_ ? kLoad : kBalance; }
  int friction_bound_index(int index) const {
    return load_dependent_ ? index : joint_count_ + joint_count_ * joint_count_ + index;
  }

  int joint_count_;
  CoordinateChoice coordinates_;
  int drift_at_ = 0;
  bool load_dependent_ = false, depends_on_time_ = false;
  std::vector<bool> dry_, creeps_, bears_reactions_;
  std::vector<int> contact_of_equation_;
  std::vector<int> moving_, motors_;
  std::vector<std::vector<DelayDependency>> delay_sources_;  // of each motor
  SimdProgram program_;
  std::vector<int> direction_rows_;
  std::vector<SparseEntry> bound_slopes_, slopes_, closure_slopes_[3];
};

/// Returns the controls of a program without delays.
std::vector<ControlDelay> undelayed_controls(const TreeProgram& program);

/// Returns the delays of the controls.
std::vector<ControlDelay> control_delays(const TreeProgram& program, const Mechanism& values);

/// The equations of motion of a mechanism whose bodies are not present in all recordings
/// (Body::present_in_recordings). There is one program for every set of absent bodies. All programs
/// have the same unknowns; the inertia of an absent body has no effect.
class ProgramVariants {
 public:
  /// @param absent  absent bodies of each group of intervals
  ProgramVariants(const Mechanism& mechanism, const CoordinateChoice& coordinates,
                  const std::vector<std::vector<int>>& absent);

  /// Returns one of the programs, for properties that all programs have in common.
  const TreeProgram& common_program() const { return *variants_.front().program; }

  /// A run of consecutive intervals that use the same program.
  struct IntervalRun {
    const TreeProgram& program;
    Mechanism values;  ///< parameter values for this program
    std::size_t first, count;
    const std::vector<int>&
        without_effect;  ///< parameters without effect, as indices among the motion parameters
  };
  /// Returns the runs of consecutive intervals that use the same program.
  /// @param groups  group of each interval
  std::vector<IntervalRun> runs(const Mechanism& values, std::span<const int> groups) const;

 private:
  struct ProgramVariant {
    std::vector<int> absent;
    std::shared_ptr<const TreeProgram> program;
    std::vector<int> without_effect;
  };
  const ProgramVariant& of(int group) const { return variants_[variant_of_[group]]; }

  std::vector<ProgramVariant> variants_;
  std::vector<int> variant_of_;  // of each group
};

}  // namespace estimator
