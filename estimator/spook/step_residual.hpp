#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "estimator/model/kinematics/kinematics.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/model/placement.hpp"
#include "estimator/spook/residual_form.hpp"

namespace estimator {

/// Settings of the impulse residual.
struct StepSettings {
  double step = 0.01;  ///< time step h [s]
  GyroscopicForm gyroscopic = GyroscopicForm::kMean;
  ResidualForm form = ResidualForm::kImplicit;
  /// Weighting compliance of all constraint rows in the implicit form [m/N | rad/(N·m)]. 0: Σ_w⁻¹
  /// is kRelativeWeight times the inertia that a row constrains (constrained_inertias).
  double weighting_compliance = 0.0;
};

/// Default inverse weighting compliance Σ_w⁻¹ of a constraint row, relative to the inertia that the
/// row constrains. With a smaller value, states can violate the constraints. A larger value makes
/// the residual bilinear and stiff, which costs iterations [METHOD 5]. It does not depend on scale.
inline constexpr double kRelativeWeight = 10.0;

/// Inputs of one step from the velocity v to the velocity w, at the configuration q.
struct StepInput {
  const Pose* poses = nullptr;                  ///< one per body
  const double* velocity = nullptr;             ///< velocity v before the step, 6 per body
  const double* next_velocity = nullptr;        ///< velocity w = v⁺ after the step, 6 per body
  const double* control = nullptr;              ///< mean control of each motor over the step
  const double* control_delay_slope = nullptr;  ///< ∂control/∂delay [unit of the control/s]
};

/// Derivatives of the step residual r, which has 6 elements per body.
struct StepDerivatives {
  Eigen::VectorXd residual;
  Eigen::MatrixXd along_configuration;  ///< ∂r/∂δq, (6b × 6b); δq = (δr, δψ) per body, world frame
  Eigen::MatrixXd along_velocity;       ///< ∂r/∂v
  Eigen::MatrixXd along_next_velocity;  ///< ∂r/∂w
  Eigen::MatrixXd along_parameters;     ///< ∂r/∂χ for the free parameters χ, in order
};

/// Impulse residual r of one SPOOK step, computed by inverse dynamics, with analytic derivatives.
///
///   r = M w − p − Aᵀ Λ,       p = M v + h (f + f_g) + Σ_j Ḡ_jᵀ T_j(w),
///   Λ = −Σ_w⁻¹ s + (I − Σ_w⁻¹ Σ) λ,    s = A w − c,    c = −(4γ/h) g + γ A v,
///   λ = (A M⁻¹ Aᵀ + Σ)⁻¹ (c − A M⁻¹ p).
///
/// It equals M_w (w − φ) with M_w = M + Aᵀ Σ_w⁻¹ A, where φ is the velocity predicted by the KKT
/// system [M −Aᵀ; A Σ][φ; λ] = [p; c]. Σ_w = Σ gives the explicit residual of [Mar]. Axis torques
/// (viscous, drag, motor, rotor, dry friction) are evaluated at w, for which inverse dynamics gives
/// a closed form; r = 0 exactly for the steps of SpookStepper. Source: [Mar, eqs. 2.18, 3.7–3.14]
/// as corrected in docs/method.md.
class StepResidual {
 public:
  virtual ~StepResidual() = default;

  /// Computes the residual.
  /// @param residual  6 per body; NaN if the step system is singular
  virtual void evaluate(const StepInput& input, double* residual) const = 0;

  /// Computes the residual and its derivatives.
  virtual void linearize(const StepInput& input, StepDerivatives& out) const = 0;

  /// Replaces all parameter values.
  virtual void set_parameter_values(const ModelParameterValues& values) = 0;
};

/// Returns the inertia that the constraint rows of each joint constrain: of the point rows (first)
/// [kg], and of the axis rows (second) [kg·m²]. It is the inverse of the sum of the two bodies'
/// mean mobilities. The weighting compliance is relative to it.
std::vector<Eigen::Vector2d> constrained_inertias(const Mechanism& mechanism,
                                                  const ModelParameterValues& values);

/// Creates the step residual of a mechanism.
/// @param free_parameters  indices into mechanism.parameters. All have derivatives, except encoder
/// offsets, which affect only observations
std::unique_ptr<StepResidual> make_step_residual(const Mechanism& mechanism,
                                                 const StepSettings& settings,
                                                 const std::vector<int>& free_parameters);

/// Element to which a parameter belongs in a mechanism with only revolute joints: a body, a joint
/// or the world. A parameter of any other element does not affect the motion.
struct ParameterOwner {
  enum class Kind { kBody, kJoint, kWorld, kElsewhere } kind;
  int element;   ///< body or joint index
  int quantity;  ///< BodyParameter, JointParameter or GravityParameter
};

inline ParameterOwner find_parameter_owner(const Mechanism& mechanism, int index) {
  const int joint_begin = mechanism.body_count() * Mechanism::kBodyParameters;
  const int world_begin = joint_begin + mechanism.joint_count() * Mechanism::kJointParameters;
  if (index < joint_begin) {
    return {ParameterOwner::Kind::kBody, index / Mechanism::kBodyParameters,
            index % Mechanism::kBodyParameters};
  }
  if (index < world_begin) {
    return {ParameterOwner::Kind::kJoint, (index - joint_begin) / Mechanism::kJointParameters,
            (index - joint_begin) % Mechanism::kJointParameters};
  }
  // SPOOK supports no vibration of the ground.
  if (index <= world_begin + static_cast<int>(GravityParameter::kTiltZ)) {
    return {ParameterOwner::Kind::kWorld, 0, index - world_begin};
  }
  return {ParameterOwner::Kind::kElsewhere, 0, 0};
}

/// Returns whether the parameter is a coordinate of a joint point.
inline bool is_joint_point_coordinate(const ParameterOwner& target) {
  return target.kind == ParameterOwner::Kind::kJoint &&
         target.quantity <= static_cast<int>(JointParameter::kPointBz);
}

}  // namespace estimator
