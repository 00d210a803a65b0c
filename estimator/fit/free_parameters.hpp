#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// Prior on a body's inertia with the CAD values as mean, independent of frame and units. With the
/// pseudo-inertia P of the body and P₀ from CAD the cost is
///
///   2/s² D,   D = tr(P₀⁻¹P) − log det(P₀⁻¹P) − 4,
///
/// where s is Body::cad_uncertainty. Near the CAD values it is ((P − P₀)/(s P₀))² along each
/// principal axis [Wen18]. It is infinite for a physically inconsistent body.
///
/// D is a sum of smooth squares, Σ φ(T_ii)² + Σ T_ij², with P = U Uᵀ (U upper triangular), T =
/// U₀⁻¹U and φ(t)² = t² − 2 log t − 1. Relative to the centre of mass c₀ from CAD, U consists of
/// √m, √m (c − c₀) and the Cholesky factor of the second moments Σ about the centre c.
class InertiaPrior {
 public:
  static constexpr int kRows = 10;  ///< number of residuals
  using Residual = Eigen::Matrix<double, kRows, 1>;
  /// Derivatives by mass m, centre of mass c_x, c_y, c_z and moments J_xx, J_yy, J_zz, J_xy, J_xz,
  /// J_yz.
  using Sensitivities = Eigen::Matrix<double, kRows, 10>;

  /// @param body  index of a body with physically consistent CAD values
  InertiaPrior(const Mechanism& mechanism, int body);

  int body() const { return body_; }
  /// Returns the indices of the ten inertia parameters. −1 stands for a coordinate of the centre of
  /// mass that is no parameter, and so cannot deviate from CAD.
  const std::array<int, 10>& parameters() const { return parameters_; }

  /// Returns residuals whose squares sum to the cost; nullopt if the body is physically
  /// inconsistent.
  std::optional<Residual> residual(const Mechanism& mechanism) const;
  /// Returns ∂residual/∂parameters of a physically consistent body.
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

/// Checks that the CAD values of a body with a CAD prior can be its mean.
/// @throws std::invalid_argument if they cannot
void check_cad_prior(const Mechanism& mechanism, int body);

/// Vector ("arrow") of the free parameters of a mechanism in a least-squares problem.
class FreeParameters {
 public:
  /// @param angle_noise  standard deviation of an angle [rad], by which whitened prior residuals
  /// are multiplied, because the cost contains angle residuals in radians
  explicit FreeParameters(const Mechanism& mechanism, double angle_noise = 1.0);

  int size() const { return static_cast<int>(indices_.size()); }
  /// Returns the indices of the free parameters in mechanism.parameters, in arrow order.
  const std::vector<int>& parameter_indices() const { return indices_; }
  /// Returns the arrow position of a parameter index, or −1 if the parameter is not free.
  int find_position(int parameter_index) const;

  Eigen::VectorXd values(const Mechanism& mechanism) const;
  Eigen::VectorXd lower(const Mechanism& mechanism) const;
  Eigen::VectorXd upper(const Mechanism& mechanism) const;
  /// Returns the growth limits of one step, LeastSquaresProblem::growth_limits. A step changes the
  /// decay speed of a Stribeck excess by at most a factor of two.
  Eigen::VectorXd growth_limits(const Mechanism& mechanism) const;

  /// Sets the free values of `to` to those of `from` plus `step`, and updates dependent parameters.
  void move(const Mechanism& from, const Eigen::VectorXd& step, Mechanism& to) const;

  /// Returns whether dependent parameters are within their bounds; free parameters always are.
  static bool has_valid_dependent_parameters(const Mechanism& mechanism);

  /// Returns the number of prior residuals: one for each Gaussian prior of a parameter that varies,
  /// ten for each CAD prior of a body with any varying parameter.
  int prior_residual_count() const {
    return static_cast<int>(priors_.size()) +
           InertiaPrior::kRows * static_cast<int>(cad_priors_.size());
  }
  /// Returns the cost of the priors: Σ (angle_noise (value − mean)/standard deviation)² plus the
  /// CAD priors (InertiaPrior). Infinite if a body with a CAD prior is physically inconsistent.
  double prior_cost(const Mechanism& mechanism) const;
  /// Linearizes the priors as one block without nodes: Gaussian priors, followed by CAD priors.
  /// @param group  noise group of the block
  void linearize_priors(const Mechanism& mechanism, int group, ResidualBlock& out) const;

  /// Rows of a single prior in the residual of `linearize_priors`.
  struct PriorRows {
    int parameter;  ///< parameter of a Gaussian prior; −1 for a CAD prior
    int body;       ///< body of a CAD prior; −1 for a Gaussian prior
    int first, count;
  };
  std::vector<PriorRows> prior_rows() const;

 private:
  struct GaussianPriorTerm {
    int parameter;
    std::vector<DependencyTerm> along;  ///< derivatives of the parameter by arrow position
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
