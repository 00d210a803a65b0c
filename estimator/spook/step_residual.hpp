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

/// Settings of the impulse residual.
struct StepSettings {
  double step = 0.01;  ///< h [s]
  GyroscopicForm gyroscopic = GyroscopicForm::kMean;
  ResidualForm form = ResidualForm::kImplicit;
  /// ε_w [m/N | rad/(N·m)] of all rows in the implicit form. 0: the weight of each joint's rows is
  /// kRelativeWeight times the inertia that they constrain (see relative_weights).
  double weighting_compliance = 0.0;
};

/// Inverse weighting compliance Σ_w⁻¹ of a row relative to the inertia that it constrains, used if
/// no weighting compliance is given. If smaller, states can violate the constraints; if larger, the
/// residual is bilinear and stiff, which costs iterations [METHOD 5]. Independent of scale.
inline constexpr double kRelativeWeight = 10.0;

/// One transition: the step from velocity v to velocity w at configuration q.
struct StepInput {
  const Pose* poses = nullptr;                  ///< one per body
  const double* velocity = nullptr;             ///< v, 6 per body, before the step
  const double* next_velocity = nullptr;        ///< w = v⁺, 6 per body, after the step
  const double* control = nullptr;              ///< mean control of each motor over the step
  const double* control_delay_slope = nullptr;  ///< ∂control/∂delay, same shape [unit/s]
};

/// Derivatives of the residual r (6·bodies) in tangent directions.
struct StepDerivatives {
  Eigen::VectorXd residual;
  Eigen::MatrixXd along_configuration;  ///< ∂r/∂δq, (6b × 6b), δq = (δr, δψ) per body, world frame
  Eigen::MatrixXd along_velocity;       ///< ∂r/∂v
  Eigen::MatrixXd along_next_velocity;  ///< ∂r/∂w
  Eigen::MatrixXd along_parameters;     ///< ∂r/∂χ for the free parameters, in order
};

/// Impulse residual of one SPOOK step, by inverse dynamics, with analytic derivatives.
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

  /// Residual alone. @param residual 6·bodies; NaN if the step system is singular.
  virtual void evaluate(const StepInput& input, double* residual) const = 0;

  /// Residual and derivatives.
  virtual void linearize(const StepInput& input, StepDerivatives& out) const = 0;

  /// Sets new parameter values; everything else is unchanged.
  virtual void set_values(const ModelValues& values) = 0;
};

/// Inertia that each joint's point rows (first) [kg] and axis rows (second) [kg·m²] constrain: the
/// inverse of the sum of its bodies' mean mobilities. Scale of the weighting compliance.
std::vector<Eigen::Vector2d> relative_weights(const Mechanism& mechanism,
                                              const ModelValues& values);

/// @param free_parameters indices into mechanism.parameters. All quantities have derivatives,
/// except encoder offsets, which affect observations only
std::unique_ptr<StepResidual> make_step_residual(const Mechanism& mechanism,
                                                 const StepSettings& settings,
                                                 const std::vector<int>& free_parameters);

}  // namespace estimator
