#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/model/placement.hpp"
#include "estimator/spook/residual_form.hpp"
#include "estimator/spook/stepper_solvers.hpp"

namespace estimator {

/// Result of a time step. A failed step leaves the state unchanged.
enum class StepOutcome {
  kOk,
  kSingular,  ///< linearly dependent constraint rows: a loop needs a positive compliance
  kFrictionNotConverged,    ///< load-dependent friction too large for its fixed-point iteration
  kGyroscopicNotConverged,  ///< step too long for the bodies' angular velocities
};

/// Forward SPOOK time step of a mechanism. It finds the velocities v⁺ and the constraint impulses λ
/// with
///
///   M v⁺ − Aᵀ λ − Σ_j Ḡ_jᵀ T_j = M v + h (f + f_g),
///   A v⁺ + Σ λ = −(4γ/h) g + γ A v,                        γ = 1/(1 + 4τ/h), Σ = 4 ε γ/h²,
///   T_j = T_0,j − D_j ω_j⁺ − B_j clamp(ω_j⁺/s_j, −1, 1),    ω_j = Ḡ_j v,
///
/// and then moves the poses q by h v⁺. GyroscopicForm defines the gyroscopic torque f_g. T_0
/// (rotor, motor, constant torque, spring on the angle in (−π, π]) and D (viscous friction,
/// back-EMF, drag) are defined in joint_terms.hpp. The bound of the dry friction is
///
///   B = h (τ_c + τ_δ exp(−ζ ω²)) + rμ (|λ_x| + |λ_y| + |λ_z|) + μ (|λ₄| + |λ₅|)
///
/// with λ in the joint frame. Source: [Mar, eqs. 2.18, 2.24, appendix F] as corrected in
/// docs/method.md.
///
/// λ is eliminated with S = A M⁻¹ Aᵀ + Σ. S is positive definite for compliances ε ≥ 0 without
/// loops, and for ε > 0 with loops. One scalar T_j per joint remains; rank-one updates include D
/// exactly. A step does not allocate. Instances are not thread-safe; copies are independent.
class SpookStepper {
 public:
  /// @param step  time step h [s], > 0
  SpookStepper(const Mechanism& mechanism, double step,
               GyroscopicForm gyroscopic = GyroscopicForm::kMean);

  /// Advances the state by one step.
  /// @param control  mean control over the step of each joint with a motor, in joint order
  StepOutcome step(State& state, const Eigen::Ref<const Eigen::VectorXd>& control);

  double step_size() const { return h_; }

  /// Returns the constraint impulses λ of the last step, five per joint: point in the world frame
  /// [N·s], axis [N·m·s]. The mean force on body a is λ/h.
  const std::vector<JointBlockCholesky::Rows>& constraint_impulses() const { return lambda_; }

  /// Returns the dry friction impulses of the last step, one per joint [N·m·s].
  const Eigen::VectorXd& friction_impulses() const { return friction_; }

  /// Returns the bounds of the dry friction impulses, including the load-dependent part [N·m·s].
  const Eigen::VectorXd& friction_bounds() const { return bound_; }

 private:
  /// One end of a joint, at one of its two bodies. The constraint rows for this body are sign·[I,
  /// −[c]×; 0, nᵀ].
  struct JointEnd {
    int body = 0;
    double sign = 0.0;  // +1 on body a, −1 on body b
    Eigen::Matrix<double, 3, 5> W = Eigen::Matrix<double, 3, 5>::Zero();  // rows' angular part, ᵀ
    Eigen::Matrix<double, 3, 5> mobility = W;                             // J_w⁻¹ W
    Eigen::Vector3d axis = Eigen::Vector3d::Zero();                       // Ḡ's angular part, ᵀ
    Eigen::Vector3d axis_mobility = axis;                                 // J_w⁻¹ of it
  };
  struct JointStepData {
    JointGeometry geometry;
    double gamma;
    JointBlockCholesky::Rows sigma;
    int first_end, end_count;  // into ends_
    int control;               // column of the control, −1 without a motor
    double omega;              // before the step
    double T_0, D;
    double dry_bound;  // B without its load-dependent part
    bool coupled;      // T depends on ω⁺: included in the axis system
  };
  struct BodyStepData {
    double inverse_mass;
    Eigen::Matrix3d inverse_inertia_body;
    Eigen::Matrix3d R, inverse_inertia;
    Eigen::Vector3d v_old, omega_old, momentum_old;
    Eigen::Vector3d omega_partner;  // other velocity in the gyroscopic torque
    Eigen::Vector3d v, omega;       // M⁻¹ (M v + h (f + f_g) + known torques), later v⁺
  };
  /// Two joint ends on the same body. They couple the constraint rows of two joints (row ≥ column).
  struct JointEndPair {
    int row, column, row_end, column_end;
  };

  void prepare_topology();
  void add_joint_end_pairs(int row, int column);
  void compute_body_terms(const State& state);
  void update_joint_data(const State& state, const Eigen::Ref<const Eigen::VectorXd>& control);
  void update_joint_ends(const State& state, JointStepData& joint);
  void assemble_constraint_blocks();
  void assemble_axis_system();
  StepOutcome solve_velocities();
  double update_gyroscopic_velocities();
  void apply_known_impulses();
  void reduce_right_hand_side();
  bool eliminate_damping();
  bool solve_dry_friction();
  bool iterate_load_friction();
  void compute_final_velocities();
  void advance_state(State& state) const;

  Mechanism mechanism_;
  ModelParameterValues values_;
  double h_;
  GyroscopicForm gyroscopic_;
  std::vector<BodyStepData> bodies_;
  std::vector<JointStepData> joints_;
  std::vector<JointEnd> ends_;
  std::vector<JointEndPair> couplings_;
  std::vector<int> first_block_;

  JointBlockCholesky factor_;
  std::vector<JointBlockCholesky::Rows> c_;        // right-hand side of the rows
  std::vector<JointBlockCholesky::Rows> reduced_;  // L⁻¹ (c − A M⁻¹ p)
  std::vector<JointBlockCholesky::Rows> lambda_;   // multipliers

  // Axis system of the coupled joints: ω = r + N T.
  std::vector<int> axes_;                                 // joint of each axis
  std::vector<std::vector<JointBlockCholesky::Rows>> z_;  // L⁻¹ A M⁻¹ Ḡᵀ of each axis
  std::vector<std::vector<JointBlockCholesky::Rows>> load_;  // −L⁻ᵀ z: Δλ of a unit axis impulse
  std::vector<JointBlockCholesky::Rows> lambda_base_;        // λ without dry friction
  Eigen::MatrixXd N_, N_damped_;
  Eigen::VectorXd r_, r_damped_;
  Eigen::VectorXd axis_bound_, axis_stick_speed_, axis_lambda_;
  JointFrictionSolver friction_solver_;
  bool dry_ = false, load_dependent_ = false;

  Eigen::VectorXd friction_, bound_;
};

}  // namespace estimator
