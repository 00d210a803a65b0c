#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/model_values.hpp"
#include "estimator/model/state.hpp"
#include "estimator/spook/gyroscopic_form.hpp"
#include "estimator/spook/residual_form.hpp"

namespace estimator {

/// What fixes the impulse residual besides the parameters.
struct StepSettings {
  double step = 0.01;  ///< h [s]
  GyroscopicForm gyroscopic = GyroscopicForm::kMean;
  ResidualForm form = ResidualForm::kImplicit;
  /// ε_w [m/N | rad/(N·m)] of all rows in the implicit form; 0: each hinge's rows weigh
  /// kRelativeWeight times the inertia they hold (see relative_weights), whatever its size.
  double weighting_compliance = 0.0;
};

/// Inverse weighting compliance Σ_w⁻¹ of a row relative to the inertia it constrains, when no
/// weighting compliance is given. Smaller lets states cheat along the constraints, larger makes
/// the residual bilinear and stiff, which costs iterations [METHOD 5]; the rig's scale drops out.
inline constexpr double kRelativeWeight = 10.0;

/// One transition: the step from velocity v to velocity w at configuration q.
struct StepInput {
  const Pose* poses = nullptr;            ///< one a body
  const double* velocity = nullptr;       ///< v, 6 a body, before the step
  const double* next_velocity = nullptr;  ///< w = v⁺, 6 a body, after the step
  const double* control = nullptr;        ///< mean control of each motorised hinge over the step
  const double* control_delay_slope = nullptr;  ///< ∂control/∂delay, same shape [unit/s]
};

/// Derivatives of the residual r (6·bodies) along tangent directions.
struct StepDerivatives {
  Eigen::VectorXd residual;
  Eigen::MatrixXd along_configuration;  ///< ∂r/∂δq, (6b × 6b), δq = (δr, δψ) a body, world frame
  Eigen::MatrixXd along_velocity;       ///< ∂r/∂v
  Eigen::MatrixXd along_next_velocity;  ///< ∂r/∂w
  Eigen::MatrixXd along_parameters;     ///< ∂r/∂χ for the free parameters, in their order
};

/// Impulse residual of one SPOOK step, by inverse dynamics, with analytic derivatives.
///
///   r = M w − p − Aᵀ Λ,       p = M v + h (f + f_g) + Σ_j Ḡ_jᵀ T_j(w),
///   Λ = −Σ_w⁻¹ s + (I − Σ_w⁻¹ Σ) λ,    s = A w − c,    c = −(4γ/h) g + γ A v,
///   λ = (A M⁻¹ Aᵀ + Σ)⁻¹ (c − A M⁻¹ p).
///
/// It equals M_w (w − φ) with M_w = M + Aᵀ Σ_w⁻¹ A, φ the velocity the KKT system
/// [M −Aᵀ; A Σ][φ; λ] = [p; c] predicts; Σ_w = Σ gives the paper's explicit residual. Axis torques
/// (viscous, drag, motor, shaft, dry friction) are evaluated at w, where inverse dynamics knows
/// them in closed form; r = 0 exactly for the steps of SpookStepper.
/// Source: [Mar, eqs. 2.18, 3.7–3.14] as corrected in docs/method.md.
class StepResidual {
 public:
  virtual ~StepResidual() = default;

  /// Residual alone. @param residual 6·bodies; NaN where the step system is singular.
  virtual void evaluate(const StepInput& input, double* residual) const = 0;

  /// Residual and derivatives.
  virtual void linearize(const StepInput& input, StepDerivatives& out) const = 0;

  /// Takes new parameter values; everything else stays.
  virtual void set_values(const ModelValues& values) = 0;
};

/// Inertia that each hinge's point rows (first) [kg] and axis rows (second) [kg·m²] constrain:
/// the inverse of the sum of its bodies' mean mobilities. Scale of the weighting compliance.
std::vector<Eigen::Vector2d> relative_weights(const Mechanism& mechanism,
                                              const ModelValues& values);

/// @param free_parameters indices into mechanism.parameters; input_delay, point and all other
///        quantities have derivatives, encoder offsets have none here (they enter observations)
std::unique_ptr<StepResidual> make_step_residual(const Mechanism& mechanism,
                                                 const StepSettings& settings,
                                                 const std::vector<int>& free_parameters);

}  // namespace estimator
