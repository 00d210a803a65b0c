#pragma once

#include <Eigen/Core>
#include <array>
#include <vector>

#include "estimator/fit/inertia_prior.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/optimize/least_squares_problem.hpp"

namespace estimator {

/// The free parameters of a mechanism as the arrow of a least-squares problem.
class FreeParameters {
 public:
  /// @param angle_noise  standard deviation of an angle [rad]. Angle residuals enter the cost in
  /// radians, so whitened prior residuals are multiplied by it
  explicit FreeParameters(const Mechanism& mechanism, double angle_noise = 1.0);

  int size() const { return static_cast<int>(indices_.size()); }
  /// Indices into mechanism.parameters, in arrow order.
  const std::vector<int>& indices() const { return indices_; }
  /// Arrow position of a parameter index, or −1.
  int position(int parameter_index) const;

  Eigen::VectorXd values(const Mechanism& mechanism) const;
  Eigen::VectorXd lower(const Mechanism& mechanism) const;
  Eigen::VectorXd upper(const Mechanism& mechanism) const;
  /// As LeastSquaresProblem::arrow_growth. The decay rate of a Stribeck excess changes its decay
  /// speed by at most a factor of two in one step.
  Eigen::VectorXd growth(const Mechanism& mechanism) const;

  /// Sets the free values of `to` to those of `from` plus `step`, and updates dependent parameters.
  void move(const Mechanism& from, const Eigen::VectorXd& step, Mechanism& to) const;

  /// Whether dependent parameters are within their bounds; free ones always are.
  static bool is_possible(const Mechanism& mechanism);

  /// Number of prior residuals: one for each Gaussian prior of a parameter that varies, ten for
  /// each CAD prior of a body with any varying parameter.
  int prior_count() const {
    return static_cast<int>(priors_.size()) +
           InertiaPrior::kRows * static_cast<int>(cad_priors_.size());
  }
  /// Σ (angle_noise (value − mean)/standard deviation)², plus the CAD priors (InertiaPrior);
  /// infinite if a body with a CAD prior is physically inconsistent.
  double prior_cost(const Mechanism& mechanism) const;
  /// Linearizes the priors as one block without nodes: Gaussian, then CAD priors.
  /// @param group its noise group
  void linearize_priors(const Mechanism& mechanism, int group, ResidualBlock& out) const;

  /// Rows of one prior in the residual of `linearize_priors`.
  struct PriorRows {
    int parameter;  ///< of a Gaussian prior; −1: none
    int body;       ///< of a CAD prior; −1: none
    int first, count;
  };
  std::vector<PriorRows> prior_rows() const;

 private:
  struct Prior {
    int parameter;
    std::vector<DependencyTerm> along;  ///< derivatives by arrow position
  };
  struct CadPrior {
    InertiaPrior prior;
    std::array<std::vector<DependencyTerm>, 10> along;  ///< the same for each of its parameters
  };

  std::vector<DependencyTerm> along(const Mechanism& mechanism, int parameter) const;

  std::vector<int> indices_;
  std::vector<Prior> priors_;
  std::vector<CadPrior> cad_priors_;
  double angle_noise_;
};

}  // namespace estimator
