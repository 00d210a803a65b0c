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
  ///                     radians, so this is the weight that a unit of prior residual has beside
  ///                     them
  explicit FreeParameters(const Mechanism& mechanism, double angle_noise = 1.0);

  int size() const { return static_cast<int>(indices_.size()); }
  /// Indices into mechanism.parameters, in arrow order.
  const std::vector<int>& indices() const { return indices_; }
  /// Arrow position of a parameter index, or −1.
  int position(int parameter_index) const;

  Eigen::VectorXd values(const Mechanism& mechanism) const;
  Eigen::VectorXd lower(const Mechanism& mechanism) const;
  Eigen::VectorXd upper(const Mechanism& mechanism) const;
  /// As LeastSquaresProblem::arrow_growth: the rate at which a Stribeck excess decays moves by no
  /// more than twice its decay speed, or half.
  Eigen::VectorXd growth(const Mechanism& mechanism) const;

  /// Sets the free values of `to` to those of `from` plus `step`, and what is tied to them.
  void move(const Mechanism& from, const Eigen::VectorXd& step, Mechanism& to) const;

  /// Whether parameters that are tied lie within their bounds, as free ones always do.
  static bool is_possible(const Mechanism& mechanism);

  /// Number of residuals that priors have: one a Gaussian of a parameter that varies, ten a drawing
  /// of a body of which anything does.
  int prior_count() const {
    return static_cast<int>(priors_.size()) +
           InertiaPrior::kRows * static_cast<int>(drawings_.size());
  }
  /// Σ (angle_noise (value − mean)/standard deviation)², and of drawings as InertiaPrior has it;
  /// infinite where a body with a drawing is not possible.
  double prior_cost(const Mechanism& mechanism) const;
  /// The priors as one block that touches parameters only: Gaussians, then drawings.
  /// @param group its noise group
  void linearize_priors(const Mechanism& mechanism, int group, ResidualBlock& out) const;

  /// A prior among the residuals of `linearize_priors`.
  struct PriorRows {
    int parameter;  ///< of a Gaussian; −1
    int body;       ///< of a drawing; −1
    int first, count;
  };
  std::vector<PriorRows> prior_rows() const;

 private:
  struct Prior {
    int parameter;
    std::vector<TieTerm> along;  ///< factors by arrow position
  };
  struct Drawing {
    InertiaPrior prior;
    std::array<std::vector<TieTerm>, 10> along;  ///< of each of its parameters, likewise
  };

  std::vector<TieTerm> along(const Mechanism& mechanism, int parameter) const;

  std::vector<int> indices_;
  std::vector<Prior> priors_;
  std::vector<Drawing> drawings_;
  double angle_noise_;
};

}  // namespace estimator
