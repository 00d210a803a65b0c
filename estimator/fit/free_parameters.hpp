#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// A prior of a body's inertia around its CAD values. The prior does not depend on the frame or on
/// units. With the pseudo-inertia P of the body and P₀ from CAD, its cost is
///
///   2/s² D,   D = tr(P₀⁻¹P) − log det(P₀⁻¹P) − 4,
///
/// where s is Body::cad_uncertainty. Near the CAD values the cost is ((P − P₀)/(s P₀))² along each
/// principal axis [Wen18]. The cost is infinite for a physically inconsistent body.
///
/// D is a sum of smooth squares, Σ φ(T_ii)² + Σ T_ij², with P = U Uᵀ (U upper triangular), T =
/// U₀⁻¹U and φ(t)² = t² − 2 log t − 1. Relative to the centre of mass c₀ from CAD, U consists of
/// √m, √m (c − c₀) and the Cholesky factor of the second moments Σ about the centre c.
class InertiaPrior {
 public:
  static constexpr int kRows = 10;  ///< number of residuals
  using Residual = Eigen::Matrix<double, kRows, 1>;
  /// Derivatives of the residuals with respect to mass m, centre of mass c_x, c_y, c_z and moments
  /// J_xx, J_yy, J_zz, J_xy, J_xz, J_yz.
  using Sensitivities = Eigen::Matrix<double, kRows, 10>;

  /// @param body  index of a body with physically consistent CAD values
  InertiaPrior(const Mechanism& mechanism, int body);

  int body() const { return body_; }
  /// Returns the indices of the ten inertia parameters in Mechanism::parameters. −1 for a constant
  /// coordinate of the centre of mass, which has its CAD value.
  const std::array<int, 10>& parameters() const { return parameters_; }

  /// Returns ten residuals, whose sum of squares is the cost of the prior; nullopt if the body is
  /// physically inconsistent.
  std::optional<Residual> residual(const Mechanism& mechanism) const;
  /// Returns the derivatives of the residuals with respect to the ten inertia parameters of a
  /// physically consistent body.
  Sensitivities sensitivities(const Mechanism& mechanism) const;

 private:
  struct InertiaValues {
    double mass;
    Eigen::Vector3d shift;  // offset of the centre of mass from CAD
    Eigen::Matrix3d sigma;
  };
  InertiaValues inertia_values(const Mechanism& mechanism) const;

  int body_;
  std::array<int, 10> parameters_;
  double weight_;  // √2/s
  double mass_;    // from CAD
  Eigen::Vector3d centre_;
  Eigen::Matrix3d unfactor_;  // inverse of the Cholesky factor of the second moments from CAD
};

/// Checks that the CAD values of a body with a CAD prior are physically consistent.
/// @throws std::invalid_argument if they are not
void check_cad_prior(const Mechanism& mechanism, int body);

/// Returns the mechanism with all parameters fixed.
Mechanism fix_parameters(Mechanism mechanism);

/// Maps the free parameters of a mechanism to the parameter vector of a least-squares problem.
class FreeParameters {
 public:
  /// @param angle_noise  standard deviation of an angle [rad]. Whitened prior residuals are
  /// multiplied by it, because the cost contains angle residuals in radians
  explicit FreeParameters(const Mechanism& mechanism, double angle_noise = 1.0);

  int size() const { return static_cast<int>(indices_.size()); }
  /// Returns the indices of the free parameters in Mechanism::parameters, in the order of the
  /// parameter vector.
  const std::vector<int>& parameter_indices() const { return indices_; }
  /// Returns the position in the parameter vector of a parameter given by its index in
  /// Mechanism::parameters, or −1 if the parameter is not free.
  int find_position(int parameter_index) const;

  Eigen::VectorXd parameter_values(const Mechanism& mechanism) const;
  Eigen::VectorXd lower(const Mechanism& mechanism) const;
  Eigen::VectorXd upper(const Mechanism& mechanism) const;
  /// Returns the largest factor by which one step may change each parameter
  /// (LeastSquaresProblem::step_factor_limits). It is four for the decay rate ζ of a Stribeck
  /// excess, which changes the decay speed by a factor of two, and infinite otherwise.
  Eigen::VectorXd step_factor_limits(const Mechanism& mechanism) const;

  /// Adds `step` to the free parameter values of `from` and stores the sums in `to`. Then updates
  /// the dependent parameters of `to`.
  void move(const Mechanism& from, const Eigen::VectorXd& step, Mechanism& to) const;

  /// Returns whether dependent parameters are within their bounds, dry friction opposes motion, and
  /// end stops are in order. The solver keeps only free parameters within their bounds.
  static bool has_valid_dependent_parameters(const Mechanism& mechanism);

  /// Returns the number of prior residuals: one for each Gaussian prior of a varying parameter, and
  /// ten for each CAD prior of a body with a varying parameter.
  int prior_residual_count() const {
    return static_cast<int>(priors_.size()) +
           InertiaPrior::kRows * static_cast<int>(cad_priors_.size());
  }
  /// Returns the cost of all priors: Σ (angle_noise (value − mean)/standard deviation)² plus the
  /// cost of the CAD priors (InertiaPrior). Infinite if a body with a CAD prior is physically
  /// inconsistent.
  double prior_cost(const Mechanism& mechanism) const;
  /// Computes residuals and derivatives of all priors as one block: Gaussian priors, then CAD
  /// priors.
  /// @param group  noise group of the block
  void linearize_priors(const Mechanism& mechanism, int group, ResidualBlock& out) const;

  /// The rows of one prior in the residual block of `linearize_priors`.
  struct PriorRows {
    int parameter;  ///< parameter of a Gaussian prior; −1 for a CAD prior
    int body;       ///< body of a CAD prior; −1 for a Gaussian prior
    int first, count;
  };
  std::vector<PriorRows> prior_rows() const;

 private:
  struct GaussianPriorTerm {
    int parameter;
    std::vector<DependencyTerm> along;  ///< derivatives by the free parameters
  };
  struct CadPrior {
    InertiaPrior prior;
    std::array<std::vector<DependencyTerm>, 10> along;  ///< derivatives of each inertia parameter
  };

  std::vector<DependencyTerm> along(const Mechanism& mechanism, int parameter) const;

  std::vector<int> indices_;
  std::vector<GaussianPriorTerm> priors_;
  std::vector<CadPrior> cad_priors_;
  double angle_noise_;
};

}  // namespace estimator
